"""What a publisher decides on a site's analytics.

Public face: `routes`.
"""
