"""What is said, to whom, and who may see it.

Public face: `audiences`, `comments`, `hidden_comments`, `models`, `moderation`, `posts`,
`routes`, `visibility`.
"""
