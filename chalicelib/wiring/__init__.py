"""Where the features meet: what is listed here is all that all of them have."""
