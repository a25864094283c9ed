"""The catalogue: products, each write under its version, and lists of products.

Public face: `forms`, `indexing`, `jobs`, `layouts`, `listing_routes`, `offers`, `rendering`,
`routes`, `rows`, `skus`, `writing`.
"""
