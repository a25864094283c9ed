"""Tending the logs: what is made ahead and dropped in time, and how large everything is.

Public face: `sizes`, `trimming`.
"""
