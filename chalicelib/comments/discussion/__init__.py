"""Reading, posting, editing and deleting comments on a node.

Public face: `by_page`, `composing`, `conflicts`, `editing`, `filing`, `first_visits`,
`highlighting`, `mentioning`, `nodes`, `places`, `posting`, `reading`, `releasing`,
`tags`.
"""
