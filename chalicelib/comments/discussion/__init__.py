"""Reading, posting, editing and deleting comments on a node.

Public face: `editing`, `highlighting`, `nodes`, `posting`, `reading`, `tags`.
"""
