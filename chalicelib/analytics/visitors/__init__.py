"""A hit's path, source, device and visitor; none of them names a person.

Public face: `agents`, `paths`, `salts`, `sources`.
"""
