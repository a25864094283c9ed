"""Joining the past of a guest, or of an imported person, with the account of who it is.

Public face: `carrying`, `routes`.
"""
