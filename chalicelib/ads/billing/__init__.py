"""Money between parties: accounts, transfers, a site's share, daily settlement.

Public face: `funds`, `routes`, `settlements`, `transfers`.
"""
