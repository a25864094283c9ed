"""The log of moderators' acts: an act's row is written before it and closed after it.

Public face: `acts`, `decisions`, `forms`, `reading`, `rows`.
"""
