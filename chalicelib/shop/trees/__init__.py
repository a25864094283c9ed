"""The categories of a shop as they are stored, in one of three stores.

Public face: `rows`, `store`, `stores`.
"""
