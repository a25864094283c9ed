"""The catalogue: lists of products, and writes on the condition of a product's version.

Public face: `forms`, `indexing`, `jobs`, `layouts`, `listing_routes`, `offers`, `rendering`,
`routes`, `rows`, `skus`, `writing`.
"""
