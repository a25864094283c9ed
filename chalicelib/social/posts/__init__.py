"""Posts, their audiences, and who may see them.

Public face: `answers`, `audiences`, `comment_changes`, `comments`, `forms`, `posts`, `reactions`,
`routes`, `shapes`, `types`, `visibility`, `votes`.
"""
