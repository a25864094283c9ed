"""One small row beside each comment, for queries across stores, nodes and people.

Public face: `carrying`, `comparing`, `kind`, `marked`, `ranking`, `reported`, `rows`, `shadows`,
`upkeep`, `writing`.
"""
