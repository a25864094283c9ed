"""Payments: the port to whoever takes the money, and what of it is recorded.

Public face: `fake`, `port`, `providers`, `records`, `signatures`.
"""
