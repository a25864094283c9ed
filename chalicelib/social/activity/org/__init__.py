"""People's places in their organisation, and the people they muted.

Public face: `people`, `places`, `routes`.
"""
