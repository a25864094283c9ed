"""What may be shown where, and what it is worth.

Public face: `answers`, `campaigns`, `click_rates`, `creatives`, `fitting`, `keywords`, `placing`,
`refilling`, `repricing`, `routes`, `rows`, `waiting`, `zones`.
"""
