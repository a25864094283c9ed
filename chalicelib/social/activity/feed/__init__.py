"""The feeds: which actions are in whose feed, and how high.

Public face: `action_fan_out`, `answers`, `cascade`, `items`, `progress`, `refill`, `reranking`,
`routes`.
"""
