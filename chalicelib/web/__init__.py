"""Pages and files for browsers, shipped in the package: they need no other host.

Public face: `files`, `routes`.
"""
