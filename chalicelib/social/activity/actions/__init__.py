"""Actions of people, their comments and reactions, and the permission to see them.

Public face: `actions`, `answers`, `comment_removal`, `events`, `forms`, `happenings`,
`moderation`, `reactions`, `shapes`, `types`, `visibility`.
"""
