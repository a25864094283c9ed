"""What a site's publisher decides on its discussions: votes, reactions, orders, moderation.

Public face: `forms`, `limits`, `routes`, `settings`.
"""
