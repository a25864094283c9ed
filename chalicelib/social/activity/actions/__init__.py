"""What people did, what others said to it, and who may see it.

Public face: `actions`, `events`, `models`, `moderation`, `types`, `visibility`.
"""
