"""A social graph with circles, posts, walls and news."""
