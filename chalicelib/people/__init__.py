"""People: their ids and names, and what follows a person everywhere: renaming, erasure, export.

Public face: `follows`, `jobs`, `routes`.
"""
