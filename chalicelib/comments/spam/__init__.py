"""What becomes of comments that are filed as spam.

Public face: `wiping`.
"""
