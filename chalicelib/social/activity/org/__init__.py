"""Where people stand in their organisation, and whom they muted.

Public face: `people`, `places`, `routes`.
"""
