"""Carts: what somebody is about to buy, held for them until each line's own time.

Public face: `answers`, `carts`, `errors`, `ids`, `routes`, `shapes`.
"""
