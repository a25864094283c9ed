"""Carts: lines to be bought, and the share of their units that is held.

Public face: `carts`, `routes`, `shapes`, `sources`.
"""
