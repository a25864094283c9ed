"""Comments that wait for a moderator.

Public face: `queue`.
"""
