"""Notifications: one inbox for all features, with each event at most once for a person.

A feature finds an event and its recipients. This package stores an item for each recipient, and
shows the item with its thing as the feature lets the reader see it now.

Public face: `changes`, `digests`, `errors`, `events`, `groups`, `inbox`, `mailing`,
`personal_data`, `preferences`, `push_rows`, `pushes`, `routes`, `rows`, `subscriptions`.
"""
