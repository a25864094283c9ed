"""Reading the comments of a node, and the nodes themselves.

Public face: `by_page`, `first_visits`, `highlighting`, `nodes`, `pinned`, `places`, `reading`,
`tags`.
"""
