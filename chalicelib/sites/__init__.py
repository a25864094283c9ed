"""Sites: the grammar of their ids, permissions within a site, issuers of its own, and settings.

Public face: `permissions`, `routes`, `settings`.
"""
