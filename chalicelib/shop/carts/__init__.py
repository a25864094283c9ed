"""Carts: lines to be bought, of which a share is held until each line's own time.

Public face: `answers`, `carts`, `errors`, `ids`, `routes`, `shapes`, `sources`.
"""
