"""The tree of a shop's categories: changed one change at a time, and read at one point in time.

Public face: `answers`, `messages`, `models`, `reading`, `routes`.
"""
