"""What a site sells: its products, in categories, found by what they are."""
