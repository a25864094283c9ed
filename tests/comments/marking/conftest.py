"""A page of the site `blog` with a comment, its moderator and its publisher."""

import pytest

from tests.comments.support.flagging import NODE, PAGE, moderator_of, posted
from tests.support.http_client import Client


@pytest.fixture
def moderator(client: Client) -> Client:
    return moderator_of(client)


@pytest.fixture
def publisher(client: Client) -> Client:
    return client.as_("paula", roles=["publisher"], sites=["blog"])


@pytest.fixture
def comment(client: Client, publisher: Client) -> str:
    """The path of a comment of Ann's."""
    assert publisher.put(NODE, **PAGE).status == 201
    return posted(client, "ann")
