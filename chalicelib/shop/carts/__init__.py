"""Carts: lines to be bought, and the share of their units that is held.

Public face: `answers`, `carts`, `errors`, `ids`, `routes`, `shapes`, `sources`.
"""
