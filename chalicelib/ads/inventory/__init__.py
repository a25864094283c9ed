"""What may be shown where, and what it is worth.

Public face: `campaigns`, `click_rates`, `creatives`, `fitting`, `placing`, `refilling`,
`repricing`, `routes`, `rows`, `waiting`, `zones`.
"""
