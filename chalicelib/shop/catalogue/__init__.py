"""The catalogue: products written by version, and lists of them.

Public face: `listing_routes`, `offers`, `relisting`, `rewriting`, `routes`, `rows`, `skus`,
`writing`.
"""
