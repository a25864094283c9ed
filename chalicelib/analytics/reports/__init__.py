"""What happened on a site, counted by day as it happens, and read as rows.

Public face: `days`, `groups`, `models`, `names`, `page_counts`, `people`, `queries`, `report`,
`routes`.
"""
