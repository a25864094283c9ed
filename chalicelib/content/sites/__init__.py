"""What a site says of itself to those who read it: title, address, language, feeds.

Public face: `held`, `routes`, `settings`.
"""
