"""Letters by e-mail: stored with their cause, sent once at most, and to no address that refuses.

Public face: `addressing`, `errors`, `jobs`, `letters`, `routes`, `rows`.
"""
