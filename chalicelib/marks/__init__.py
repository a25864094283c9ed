"""Marks: a person's vote on a thing and reactions to it, stored once each and counted exactly.

Public face: `placing`, `reading`, `removal`, `moving`, `changes`, `things`, `shapes`, `decisions`,
`errors`; for the app `workers`, `schedules`, `verification` and `personal_data`.
"""
