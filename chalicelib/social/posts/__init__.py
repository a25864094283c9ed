"""Posts, their audiences, and who may see them.

Public face: `audiences`, `comments`, `hidden_comments`, `models`, `moderation`, `posts`,
`routes`, `shapes`, `visibility`.
"""
