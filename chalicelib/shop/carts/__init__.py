"""Carts: the lines of a buyer, and the units that each line holds.

Public face: `carts`, `routes`, `shapes`, `sources`.
"""
