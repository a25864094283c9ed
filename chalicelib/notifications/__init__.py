"""Notifications: each event reaches a person once, in one inbox for all.

A feature finds the event of a thing and the people whom it concerns; this room stores an item for
each person, and shows items as the feature lets the reader see them now.

Public face: `changes`, `digests`, `errors`, `events`, `groups`, `inbox`, `mailing`,
`personal_data`, `preferences`, `push_rows`, `pushes`, `routes`, `rows`, `subscriptions`.
"""
