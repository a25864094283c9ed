"""Decisions on many comments at once: a call notes a batch, and a worker goes through it.

Public face: `notifications`, `routes`, `running`.
"""
