"""The catalogue: products, each write under its version, and lists of products.

Public face: `forms`, `indexing`, `layouts`, `listing_routes`, `offers`, `relisting`, `rendering`,
`rewriting`, `routes`, `rows`, `skus`, `writing`.
"""
