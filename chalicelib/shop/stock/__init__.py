"""Stock: how many of each SKU there are, and which carts and orders hold some of them.

Public face: `audit`, `expiry`, `movements`, `routes`, `shapes`, `shelf`.
"""
