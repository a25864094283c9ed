"""How products keep their details: as a sub-document, or as pairs.

Public face: `stores`.
"""
