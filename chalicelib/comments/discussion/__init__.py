"""Reading, posting, editing and deleting comments on a node.

Public face: `editing`, `nodes`, `posting`, `reading`, `tags`.
"""
