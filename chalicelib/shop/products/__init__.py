"""Products: written by version, read, and what carts need of them.

Public face: `answers`, `indexing`, `models`, `offers`, `relisting`, `rewriting`, `routes`, `rows`,
`skus`.
"""
