"""What an advertiser does with a campaign; money and zones follow in one transaction.

Public face: `lifecycle`, `removal`, `routes`.
"""
