"""From a signed token to an event that is counted and billed once.

Public face: `beacons`, `conversion_keys`, `counting`, `events`, `reconciliation`, `routes`,
`tokens`.
"""
