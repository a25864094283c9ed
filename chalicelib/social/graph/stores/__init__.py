"""Two stores of the social graph, for users with few ties and with many."""
