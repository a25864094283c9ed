"""Discussions from the files of other systems into Plaza's nodes, and from there into files.

Public face: `exporting`, `formats`, `identities`, `lease`, `rows`, `running`, `shapes`, `wxr`.
"""
