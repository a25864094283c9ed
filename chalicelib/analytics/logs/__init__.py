"""The four logs, and the receipts by which hits are told from repeats where no log can.

Public face: `choosing`, `receipts`, `rows`, `schema`, `together`.
"""
