"""Users, and whom they follow, circle and block; embedded or as edges.

Public face: `blocks`, `circles`, `following`, `models`, `reader`, `routes`, `store`, `stores`,
`users`.
"""
