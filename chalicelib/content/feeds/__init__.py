"""Feeds of a site's visible pages: Atom and JSON Feed, from one list of entries.

Public face: `routes`, `sitemap`.
"""
