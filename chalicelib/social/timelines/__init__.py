"""Walls and news: every design of them, kept equal to the posts.

Public face: `copies`, `news`, `post_fan_out`, `propagation`, `references`, `repair`, `routes`,
`walls`.
"""
