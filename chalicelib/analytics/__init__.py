"""Analytics: the hits of a site's pages, counted at once, rolled up, and deleted in time."""
