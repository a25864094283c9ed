"""Walls and news in several designs, each equal to the posts.

Public face: `copies`, `news`, `post_fan_out`, `propagation`, `references`, `repair`, `routes`,
`walls`.
"""
