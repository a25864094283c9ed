"""The settings of a site's shop.

Public face: `answers`, `routes`, `settings`.
"""
