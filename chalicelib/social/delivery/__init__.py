"""Delivery of any document to its readers, in chunks, under leases.

Public face: `engine`, `leases`, `progress`, `state`.
"""
