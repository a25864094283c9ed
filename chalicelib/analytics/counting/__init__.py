"""From a beacon to hits that are counted once.

Public face: `beacons`, `counting`, `remembered_sites`, `routes`.
"""
