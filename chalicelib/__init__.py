"""Plaza: comments, an ad network and a social feed for any website."""

__version__ = "0.4.0"
