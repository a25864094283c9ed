"""Plaza: comments, an ad network and a social feed for any website."""

__version__ = "0.2.0"
