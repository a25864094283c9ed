"""Positions in a listing, ranges of ids, and pages filled up after a permission check.

Public face: `id_range`, `pages`, `positions`.
"""
