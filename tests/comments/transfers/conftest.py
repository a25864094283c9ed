"""A publisher, and an import as the publisher makes it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.comments.transfers.support.files import IMPORTS, begin, read
from tests.support.http_client import Client
from tests.support.workers import Workers


@pytest.fixture
def publisher(client: Client) -> Client:
    return client.as_("paula", roles=["publisher"], sites=["blog"])


@pytest.fixture
def start(publisher: Client, workers: Workers) -> Callable[..., Any]:
    """Send a file, start its import, and have the workers do it; return it as it is then."""

    def begin_and_start(content: bytes, **wanted: Any) -> Any:
        begun = begin(publisher, "blog", content, **wanted)
        started = publisher.post(f"{IMPORTS}/{begun['id']}/start")
        assert (started.status, started.json["state"]) == (202, "running")
        workers.drain()
        return read(publisher, begun["id"])

    return begin_and_start
