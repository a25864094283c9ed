"""Categories of a shop: stored in one of three stores, changed one at a time.

Public face: `forms`, `messages`, `reading`, `routes`, `rows`.
"""
