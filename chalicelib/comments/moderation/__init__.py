"""Comments that wait for a moderator's decision.

Public face: `claims`, `flags`, `forms`, `queue`.
"""
