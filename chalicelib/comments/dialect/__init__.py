"""The Markdown of comments: texts of people who may never have heard of Markdown.

docs/embed.md has the table of the differences from CommonMark, and
`tests/comments/test_typed_texts.py` has a case for each difference.

Public face: `blocks`, `marks`, `urls`.
"""
