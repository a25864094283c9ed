"""Sessions: a visitor's hits without a long pause, made from the log and rolled up.

Public face: `making`, `periods`, `routes`.
"""
