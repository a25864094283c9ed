"""Asking a service whether a comment is spam: the port, Akismet behind it, and who sent a comment.

Public face: `origins`, `services`.
"""
