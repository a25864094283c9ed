"""One campaign's money: pacing releases it, leases and clicks spend it, a ledger records it.

Public face: `audit`, `balances`, `clicks`, `exhaustion`, `held_leases`, `leases`, `ledger`.
"""
