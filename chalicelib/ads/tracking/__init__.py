"""From a signed token to an event that is counted and billed once.

Public face: `beacons`, `conversion_keys`, `conversion_routes`, `counting`, `events`,
`reconciliation`, `routes`, `tokens`.
"""
