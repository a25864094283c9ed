"""Structured logs with metrics in them, and ids that connect their lines.

Public face: `logs`, `metrics`.
"""
