"""Plaza: comments, an ad network, a social feed, content, analytics and a shop for any website."""

__version__ = "0.4.0"
