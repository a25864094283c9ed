"""Whose feed an action is in, and how high.

Public face: `action_fan_out`, `cascade`, `items`, `progress`, `refill`, `reranking`, `routes`.
"""
