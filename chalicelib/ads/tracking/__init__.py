"""From a signed token to an event that counts and costs once.

Public face: `beacons`, `conversion_keys`, `counting`, `events`, `reconciliation`, `routes`,
`tokens`.
"""
