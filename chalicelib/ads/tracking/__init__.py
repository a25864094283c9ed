"""From a signed token to an event that counts and costs once.

Public face: `beacons`, `conversion_keys`, `events`, `jobs`, `reconciliation`, `routes`, `tokens`.
"""
