"""The ads that each zone may show, and their worth.

Public face: `campaigns`, `click_rates`, `creatives`, `fitting`, `former`, `placing`,
`refilling`, `repricing`, `routes`, `rows`, `waiting`, `zones`.
"""
