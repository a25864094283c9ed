"""Orders: the checkout of carts step by step, payment, refunds and sending; each step may repeat.

Public face: `books`, `jobs`, `notifications`, `personal_data`, `reconciliation`, `routes`,
`shapes`, `sweep`.
"""
