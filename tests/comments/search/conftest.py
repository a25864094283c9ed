"""A site that lets its comments be searched, and its discussions in every store."""

import pytest

from tests.comments.support.discussion import LAYOUTS
from tests.comments.support.searching import SETTINGS, SITE
from tests.support.http_client import Client


@pytest.fixture
def publisher(client: Client) -> Client:
    """The publisher of a site that is searched."""
    paula = client.as_("paula", roles=["publisher"], sites=[SITE])
    assert paula.put(SETTINGS, search=True).status == 200
    return paula


@pytest.fixture
def nodes(publisher: Client) -> list[str]:
    """A node in each store, flat and threaded, by its path."""
    found = []
    for layout in LAYOUTS:
        node = f"/nodes/{SITE}:{layout}"
        page = {"title": str(layout), "url": f"https://blog.example/{layout}"}
        made = publisher.put(node, **page, store=layout.store, threaded=layout.threaded)
        assert made.status == 201, made.body
        found.append(node)
    return found


@pytest.fixture
def unsearched(publisher: Client, nodes: list[str]) -> list[str]:
    """Nodes of a site that is not searched yet."""
    publisher.patch(SETTINGS, search=False)
    return nodes
