"""Background jobs: noted in the transaction of their cause, and repeated until they are done.

Public face: `outbox`, `resending`.
"""
