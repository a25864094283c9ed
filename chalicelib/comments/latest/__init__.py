"""The latest visible comments of a site, a node, a thread or a person, as lists and as feeds.

Public face: `discussed`, `listing`, `permalinks`, `routes`, `rows`, `sitemap`.
"""
