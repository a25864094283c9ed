"""From a request for a zone to the ads that answer it.

Public face: `cache`, `frame_routes`, `routes`.
"""
