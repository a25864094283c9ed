"""Deletion of a node, and its moves to another id.

Public face: `forwarding`, `relocation`, `vacancies`.
"""
