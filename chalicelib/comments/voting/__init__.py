"""Votes on comments, and reactions to comments and to the page itself.

Public face: `errors`, `placing`, `routes`.
"""
