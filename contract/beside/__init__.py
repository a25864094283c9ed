"""Other systems beside Plaza: each holds a discussion, which moves over, and both are compared."""
