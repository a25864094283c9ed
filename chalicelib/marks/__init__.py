"""Marks: a person's vote on a thing and reactions to it, stored once each and counted exactly.

Public face: `placing`, `reading`, `removal`, `verification`, `Kind` and `Thing`.
"""

from chalicelib.marks.things import Kind, Thing

__all__ = ["Kind", "Thing"]
