"""The memory of visitors, and their consent to it.

Public face: `consent`, `histories`, `profile_reader`, `profiles`, `routes`, `visitor_ids`.
"""
