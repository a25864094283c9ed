"""Webhooks: a site's own servers receive its events, signed by Standard Webhooks 1.0.0.

A feature compares a thing with its reported state; this room stores an event for each difference,
makes a delivery for each of the site's hooks, and sends it until its receiver takes it.

Public face: `events`, `jobs`, `kinds`, `routes`, `rows`.
"""
