"""What happened on a site, counted by day as it happens, and read as rows.

Public face: `days`, `forms`, `late`, `layouts`, `losses`, `moving`, `names`, `people`, `queries`,
`report`, `routes`.
"""
