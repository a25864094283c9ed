"""Events, counted by period as they happen, and read as rows.

Public face: `counters`, `progress`, `roll_ups`, `routes`.
"""
