"""Sessions: a visitor's hits without a long pause, made of the log and rolled up.

Public face: `making`, `periods`, `routes`.
"""
