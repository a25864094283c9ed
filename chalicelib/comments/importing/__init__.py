"""Discussions from the files of other systems into Plaza's nodes, and from there into files.

Public face: `rows`.
"""
