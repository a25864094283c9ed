"""What moderators did, taken up again: undone, and made clear after a crash.

Public face: `routes`, `undoing`, `upkeep`.
"""
