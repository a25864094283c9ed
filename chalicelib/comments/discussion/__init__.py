"""Reading, posting, editing and deleting comments on a node.

Public face: `composing`, `editing`, `filing`, `highlighting`, `nodes`, `posting`, `reading`, `tags`.
"""
