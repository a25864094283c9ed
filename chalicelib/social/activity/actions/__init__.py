"""What people did, the comments and reactions to it, and who may see it.

Public face: `actions`, `answers`, `comment_removal`, `events`, `forms`, `happenings`,
`moderation`, `reactions`, `shapes`, `types`, `visibility`.
"""
