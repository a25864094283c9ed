"""Letters by e-mail: stored with their cause, sent once at most, and to no address that refuses.

Public face: `jobs`, `rows`. `app.py` uses `routes`.
"""
