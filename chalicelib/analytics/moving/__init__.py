"""Moving a site's hits to another log, and its reports to another layout, while hits come.

Public face: `layouts`, `moves`.
"""
