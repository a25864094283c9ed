"""The log of what moderators do: a row for each act, written before it and closed after it.

Public face: `acts`, `forms`, `reading`, `rows`.
"""
