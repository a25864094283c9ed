"""Guests with an e-mail address: letters with a link, and its page, which confirms the address.

Public face: `addresses`, `confirming`, `routes`.
"""
