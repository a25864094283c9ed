"""Background jobs: noted in the transaction of their cause, and repeated until done.

Public face: `commands`, `functions`, `outbox`, `resending`, `schedules`, `sweeping`, `work`.
"""
