"""Structured logs, the metrics in them, and the ids that tie them together.

Public face: `logs`, `metrics`.
"""
