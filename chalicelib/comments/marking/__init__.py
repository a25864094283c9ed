"""Marks of readers on comments and pages: votes, reactions and flags.

Public face: `flag_routes`, `flags`, `vote_routes`.
"""
