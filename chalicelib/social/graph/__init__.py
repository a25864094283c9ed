"""Users, their profiles, circles, following, blocks and watches.

Public face: `audience`, `blocks`, `circle_keys`, `circles`, `following`, `forms`, `memberships`,
`routes`, `store`, `stores`, `users`, `watches`.
"""
