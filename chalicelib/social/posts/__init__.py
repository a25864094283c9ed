"""Posts, their audiences, and the permission to see them.

Public face: `answers`, `audiences`, `comment_changes`, `comments`, `forms`, `posts`, `reactions`,
`routes`, `shapes`, `types`, `visibility`, `votes`.
"""
