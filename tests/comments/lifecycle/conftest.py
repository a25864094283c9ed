"""Callers who move nodes."""

import pytest

from tests.support.http_client import Client


@pytest.fixture
def admin(client: Client) -> Client:
    return client.as_("root", roles=["admin"])
