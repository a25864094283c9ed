"""A publisher's settings of a site's discussions: votes, reactions, orders, moderation.

Public face: `limits`, `offered`, `routes`, `search_changes`, `settings`.
"""
