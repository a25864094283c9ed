"""The four logs, and the receipts that identify repeats of hits for logs that cannot.

Public face: `choosing`, `log`, `moving`, `receipts`, `rows`, `schema`, `together`.
"""
