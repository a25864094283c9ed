"""From a signed token to an event that is counted and billed once.

Public face: `beacons`, `bots`, `conversion_keys`, `conversion_routes`, `counting`, `events`,
`reconciliation`, `routes`, `tokens`.
"""
