"""Reports on a site's hits, counted by day as they come, and read as rows.

Public face: `days`, `late`, `layouts`, `losses`, `moving`, `names`, `people`, `queries`, `report`,
`routes`.
"""
