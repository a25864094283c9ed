"""Sites: the grammar of their ids, who may act within one, and their settings.

Public face: `permissions`, `settings`. `app.py` takes `routes`.
"""
