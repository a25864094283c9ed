"""One campaign's money: released by pacing, leased, spent, entered in the ledger.

Public face: `audit`, `balances`, `clicks`, `exhaustion`, `held_leases`, `leases`, `ledger`.
"""
