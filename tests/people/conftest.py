"""Discussions of two sites."""

import pytest

from tests.people.support.blocking import COMMENTS, SITES
from tests.support.http_client import Client


@pytest.fixture
def pages(client: Client) -> Client:
    """Discussions of two sites with a comment by Bob."""
    root = client.as_("root", roles=["admin"])
    for site in SITES:
        root.put(f"/nodes/{site}:moon", title="Moon", url=f"https://{site}.example/moon")
        client.as_("bob").post(COMMENTS.format(site), text="By Bob")
    return client
