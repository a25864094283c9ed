"""Webhooks: a site's own servers receive its events, signed by Standard Webhooks 1.0.0.

A feature compares a thing with its reported state (`events`), or stores an event with its cause
(`due`). Each event becomes a delivery for each of the site's hooks that chose its kind. A worker
sends a delivery until its receiver answers 2xx or 410, or its retries end.

Public face: `deliveries`, `due`, `events`, `jobs`, `kinds`, `messages`, `notifications`,
`personal_data`, `routes`, `rows`.
"""
