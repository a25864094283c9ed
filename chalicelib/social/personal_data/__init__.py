"""What follows a person everywhere: a new name, an erasure.

Public face: `erasure`, `renaming`, `routes`.
"""
