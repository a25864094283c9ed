"""From a beacon to hits that count once.

Public face: `beacons`, `counting`, `routes`.
"""
