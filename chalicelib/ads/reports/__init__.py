"""What happened, counted by period as it happens, and read as rows.

Public face: `counters`, `progress`, `roll_ups`, `routes`.
"""
