"""Files that come into a site's discussions, and files of them: sent, worked off, and fetched.

Public face: `messages`, `routes`, `rows`, `runs`, `upkeep`.
"""
