"""Analytics: the hits of a site's pages, counted as they come, rolled up, and forgotten in time."""
