"""Services that detect spam: the port, Akismet behind it, and the origins of comments.

Public face: `origins`, `services`.
"""
