"""Marks: a person's vote on a thing and reactions to it, stored once each and counted exactly.

Public face: `changes`, `decisions`, `errors`, `jobs`, `moving`, `personal_data`, `placing`,
`reading`, `removal`, `shapes`, `verification`.
"""
