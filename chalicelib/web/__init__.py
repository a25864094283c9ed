"""Pages and files for browsers, which ship in the package and need no other host.

Public face: `files`.
"""
