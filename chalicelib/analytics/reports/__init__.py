"""What happened on a site, counted by day as it happens, and read as rows.

Public face: `days`, `models`, `names`, `people`, `queries`, `report`, `routes`.
"""
