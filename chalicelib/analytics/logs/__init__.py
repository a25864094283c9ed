"""The four logs, and the receipts by which hits are told from repeats where no log can.

Public face: `choosing`, `log`, `moving`, `receipts`, `rows`, `schema`, `together`.
"""
