"""Search by rows of words: texts with all words of a query, newest first.

Public face: `finding`, `plain`, `queries`.
"""
