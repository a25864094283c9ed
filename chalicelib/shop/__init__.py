"""The shop of a site: its catalogue, stock, carts, orders and payments."""
