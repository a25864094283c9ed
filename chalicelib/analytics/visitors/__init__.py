"""Who and what a hit is of: its path, source, device and visitor; nothing here names a person.

Public face: `agents`, `paths`, `salts`, `sources`.
"""
