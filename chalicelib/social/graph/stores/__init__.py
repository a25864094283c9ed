"""The stores of the social graph."""
