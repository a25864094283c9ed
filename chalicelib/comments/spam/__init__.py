"""What becomes of comments that are filed as spam, or checked for it.

Public face: `checking`.
"""
