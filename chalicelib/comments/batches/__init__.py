"""Decisions on many comments at once: noted as a batch, which a worker goes through.

Public face: `routes`, `running`.
"""
