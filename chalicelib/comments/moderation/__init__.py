"""Comments that wait for a moderator's decision.

Public face: `answers`, `claims`, `flags`, `queue`.
"""
