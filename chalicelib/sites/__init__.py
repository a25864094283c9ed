"""Sites: the grammar of their ids, permissions within a site, and settings.

Public face: `permissions`, `settings`. `app.py` uses `routes`.
"""
