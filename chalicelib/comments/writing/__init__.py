"""Writing in a discussion: new comments, their edits, and every other change of a comment.

Public face: `changes`, `conflicts`, `decisions`, `draft`, `edit`, `filing`,
`mentioning`, `post`, `releasing`.
"""
