"""A site that asks its guests for an address, and guests of it."""

import pytest

from tests.comments.support.guest_fixtures import settings, site
from tests.comments.support.guests import COMMENTS, GuestSite

__all__ = ["settings", "site"]


@pytest.fixture
def waiting(site: GuestSite) -> GuestSite:
    """The site, with a comment that waits for the letter of its guest."""
    assert site.guest().post(COMMENTS, text="A fine evening").json["state"] == "pending"
    return site


@pytest.fixture
def known(site: GuestSite) -> GuestSite:
    """The site, with a guest whose address is confirmed."""
    site.guest()
    site.press()
    return site
