"""Joining the past of a guest, or of an imported person, with the person's account.

Public face: `carrying`, `routes`.
"""
