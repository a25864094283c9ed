"""An advertiser's changes of campaigns; money and zones follow in one transaction.

Public face: `lifecycle`, `notifications`, `personal_data`, `removal`, `routes`.
"""
