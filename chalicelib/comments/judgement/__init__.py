"""What becomes of a text before anybody reads it: shown, held for a moderator, or refused.

Public face: `judge`, `phrases`.
"""
