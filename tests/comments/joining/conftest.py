"""A site that asks its guests for an address."""

from tests.comments.support.guest_fixtures import laid_out, settings, site

__all__ = ["laid_out", "settings", "site"]
