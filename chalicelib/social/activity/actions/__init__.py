"""What people did, the comments and reactions to it, and who may see it.

Public face: `actions`, `events`, `models`, `moderation`, `shapes`, `types`,
`visibility`.
"""
