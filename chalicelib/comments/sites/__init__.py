"""What a site's publisher decides on its discussions: votes, reactions, orders, moderation.

Public face: `answers`, `limits`, `routes`, `settings`.
"""
