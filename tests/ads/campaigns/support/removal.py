"""Deletions of campaigns, and where they die."""


class Crash(Exception):
    """The process dies here."""
