"""Words of visible comments in rows of their own, for a site that lets its comments be searched.

Public face: `rows`, `upkeep`, `writing`.
"""
