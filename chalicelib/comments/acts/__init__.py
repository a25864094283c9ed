"""Later work on moderators' acts: undoing them, and closing their rows after a crash.

Public face: `routes`, `undoing`, `upkeep`.
"""
