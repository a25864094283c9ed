"""Lists of products: by category, type, tag, text and facets, page by page; and a category's page.

Public face: `routes`.
"""
