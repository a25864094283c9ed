"""Feeds of what a site shows: Atom and JSON Feed, from one list of entries.

Public face: `routes`.
"""
