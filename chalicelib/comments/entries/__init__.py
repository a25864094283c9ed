"""One small row beside each comment: what is asked across stores, nodes and people.

Public face: `carrying`, `kind`, `marked`, `ranking`, `reported`, `rows`, `shadows`, `upkeep`,
`writing`.
"""
