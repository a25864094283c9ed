"""Reading, posting, editing and deleting comments on a node.

Public face: `composing`, `editing`, `filing`, `highlighting`, `mentioning`, `nodes`, `posting`,
`reading`, `tags`.
"""
