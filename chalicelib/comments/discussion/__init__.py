"""Reading, posting, editing and deleting comments on a node.

Public face: `composing`, `conflicts`, `editing`, `filing`, `highlighting`, `mentioning`, `nodes`,
`places`, `posting`, `reading`, `tags`.
"""
