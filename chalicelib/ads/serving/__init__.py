"""From a request for a zone to its ads.

Public face: `cache`, `frame_routes`, `routes`.
"""
