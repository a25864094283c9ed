"""The feeds: the actions in each reader's feed, and their ranks.

Public face: `action_fan_out`, `answers`, `cascade`, `items`, `progress`, `refill`, `reranking`,
`routes`.
"""
