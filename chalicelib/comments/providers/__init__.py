"""Signing in at a site by OpenID Connect or GitHub: its providers, and the way to one and back.

Public face: `routes`.
"""
