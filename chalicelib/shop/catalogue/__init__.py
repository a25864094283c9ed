"""The catalogue: products, each write under its version, and lists of products.

Public face: `indexing`, `listing_routes`, `offers`, `relisting`, `rewriting`, `routes`, `rows`,
`skus`.
"""
