"""People in a site's discussions: their standing, their limit of posting, their badges.

Public face: `blocking`, `changing`, `claims`, `counting`, `guests`, `links`,
`member_routes`, `members`, `routes`, `rows`.
"""
