"""Notifications: one inbox for all features, with each event at most once for a person.

A feature finds an event of a thing, such as a comment, and its recipients. This package stores an
item for each recipient. The inbox shows the item with the thing as its recipient may see it now.

Public face: `changes`, `digests`, `errors`, `events`, `groups`, `inbox`, `mailing`,
`personal_data`, `preferences`, `push_rows`, `pushes`, `routes`, `rows`, `subscriptions`.
"""
