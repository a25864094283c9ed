"""The category tree of a shop: in one of three stores, with one change at a time.

Public face: `forms`, `messages`, `reading`, `routes`, `rows`.
"""
