"""Sites: the grammar of their ids, permissions within a site, issuers of its own, and settings.

Public face: `permissions`, `settings`. `app.py` uses `routes`.
"""
