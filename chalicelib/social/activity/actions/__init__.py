"""What people did, the comments and reactions to it, and who may see it.

Public face: `actions`, `answers`, `events`, `happenings`, `models`, `moderation`, `reactions`,
`shapes`, `types`, `visibility`.
"""
