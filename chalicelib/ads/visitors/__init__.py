"""What is remembered of a visitor, and whether anything may be.

Public face: `consent`, `profiles`, `routes`, `trimming`, `visitor_ids`.
"""
