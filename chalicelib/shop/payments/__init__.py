"""Payments: the port to payment providers, and the records of payments and refunds.

Public face: `events`, `fake`, `port`, `providers`, `records`, `signatures`.
"""
