"""Posts, their audiences, and who may see them.

Public face: `answers`, `audiences`, `comments`, `hidden_comments`, `models`, `polls`, `posts`,
`routes`, `shapes`, `types`, `visibility`, `votes`.
"""
