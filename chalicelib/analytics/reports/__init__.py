"""What happened on a site, counted by day as it happens, and read as rows.

Public face: `days`, `groups`, `late`, `losses`, `models`, `names`, `page_counts`, `people`,
`queries`, `report`, `routes`.
"""
