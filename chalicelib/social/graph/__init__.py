"""Users, their circles, following and blocks, embedded or as edges.

Public face: `audience`, `blocks`, `circle_keys`, `circles`, `following`, `forms`, `memberships`,
`routes`, `store`, `stores`, `users`, `watches`.
"""
