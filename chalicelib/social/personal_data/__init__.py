"""Renaming and erasing a person in all data.

Public face: `erasure`, `renaming`, `routes`.
"""
