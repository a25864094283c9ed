"""From a beacon to hits that are counted once.

Public face: `beacons`, `counting`, `routes`.
"""
