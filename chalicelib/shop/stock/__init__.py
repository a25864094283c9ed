"""Stock: the units of each SKU, and the units that carts and orders hold.

Public face: `audit`, `expiry`, `movements`, `routes`, `shapes`, `shelf`.
"""
