"""Measurements of Plaza against the raw driver, and of its stores against each other."""
