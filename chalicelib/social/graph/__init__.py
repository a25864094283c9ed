"""Users, their circles, following and blocks; embedded or as edges.

Public face: `answers`, `audience`, `blocks`, `circle_keys`, `circles`, `following`,
`memberships`, `models`, `routes`, `store`, `stores`, `users`.
"""
