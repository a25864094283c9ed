"""What may be shown where, and what it is worth.

Public face: `campaigns`, `click_rates`, `creatives`, `keywords`, `placing`, `refilling`,
`repricing`, `routes`, `rows`, `waiting`, `zones`.
"""
