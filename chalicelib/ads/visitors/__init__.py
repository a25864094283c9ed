"""What is remembered of a visitor, and whether anything may be.

Public face: `consent`, `histories`, `profile_reader`, `profiles`, `routes`, `visitor_ids`.
"""
