"""Flags of comments: what readers report to moderators, and what that holds back.

Public face: `routes`, `holding`.
"""
