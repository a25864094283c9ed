"""Orders: carts checked out step by step, paid, refunded and sent; each step may be repeated.

Public face: `books`, `messages`, `people`, `resuming`, `routes`, `shapes`, `sweep`.
"""
