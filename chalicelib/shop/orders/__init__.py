"""Orders: the checkout of carts step by step, payment, refunds and sending; each step may repeat.

Public face: `books`, `messages`, `notifications`, `personal_data`, `reconciliation`, `resuming`,
`routes`, `shapes`, `sweep`.
"""
