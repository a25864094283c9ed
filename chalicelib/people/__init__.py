"""People: their ids and names, and their renaming, erasure and export in every feature.

Public face: `blocks`, `export`, `features`, `jobs`, `routes`.
"""
