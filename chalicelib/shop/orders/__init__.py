"""Orders: carts checked out step by step, paid, refunded and sent; each step may be repeated.

Public face: `books`, `messages`, `personal_data`, `resuming`, `routes`, `shapes`, `sweep`.
"""
