"""A site that asks its guests for an address, as fixtures of every folder that is about it."""

from pathlib import Path

import pytest

from chalicelib.runtime import Runtime
from chalicelib.settings import Settings
from tests.comments.support.discussion import Layout
from tests.comments.support.guests import GuestSite, mailing
from tests.support.clock import Clock
from tests.support.http_client import Client


@pytest.fixture
def settings(settings: Settings, tmp_path: Path) -> Settings:
    return settings.model_copy(update=mailing(tmp_path))


@pytest.fixture
def site(client: Client, runtime: Runtime, clock: Clock) -> GuestSite:
    made = GuestSite(client, runtime, clock)
    made.settle()
    return made


@pytest.fixture
def laid_out(client: Client, runtime: Runtime, clock: Clock, layout: Layout) -> GuestSite:
    """The site, with its discussion in each store."""
    made = GuestSite(client, runtime, clock)
    made.settle(store=layout.store, threaded=layout.threaded)
    return made
