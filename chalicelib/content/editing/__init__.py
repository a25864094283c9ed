"""Writing pages: drafts by version, their revisions, and the differences of two.

Public face: `drafts`, `revisions`, `routes`.
"""
