"""Comments that are spam, or that a service checks for it.

Public face: `checking`.
"""
