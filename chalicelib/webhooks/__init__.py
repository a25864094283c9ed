"""Webhooks: a site's own servers receive its events, signed by Standard Webhooks 1.0.0.

A feature compares a thing with its reported state, or stores an event with its cause. This room
makes a delivery for each of the site's hooks, and sends it until its receiver takes it.

Public face: `deliveries`, `due`, `events`, `jobs`, `kinds`, `messages`, `notifications`,
`personal_data`, `routes`, `rows`.
"""
