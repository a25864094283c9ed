"""Marks: a person's vote, reactions and flag on a thing, stored once and counted exactly.

Public face: `adding`, `changes`, `decisions`, `errors`, `giving`, `jobs`, `moving`,
`personal_data`, `placing`, `reading`, `removal`, `shapes`, `verification`.
"""
