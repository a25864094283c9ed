"""Callers of the comments API."""

import pytest

from tests.support.http_client import Client


@pytest.fixture
def publisher(client: Client) -> Client:
    return client.as_("paula", roles=["publisher"])


@pytest.fixture
def ann(client: Client) -> Client:
    return client.as_("ann")
