"""A publisher's settings of a site's discussions: votes, reactions, orders, moderation.

Public face: `forms`, `limits`, `routes`, `search_changes`, `settings`.
"""
