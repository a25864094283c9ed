"""Votes, reactions and flags of readers on comments and pages.

Public face: `flag_routes`, `flags`, `vote_routes`.
"""
