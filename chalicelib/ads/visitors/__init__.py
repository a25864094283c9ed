"""The memory of visitors, and their consent to it.

Public face: `histories`, `profiles`, `routes`, `visitor_ids`.
"""
