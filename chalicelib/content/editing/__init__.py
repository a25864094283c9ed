"""Writing pages: drafts by version, their revisions, and differences between revisions.

Public face: `drafts`, `forms`, `revisions`, `routes`.
"""
