"""What the tests of analytics share."""

from dataclasses import replace

import pytest

from chalicelib.messaging import Message, Queues
from chalicelib.runtime import Runtime
from tests.support.http_client import Client


class Refusing(Queues):
    """Queues that take nothing: the worker's work is done within the request."""

    def send(self, *messages: Message) -> bool:
        return not messages


@pytest.fixture
def refused(runtime: Runtime) -> Runtime:
    """A runtime whose hits are counted within the request."""
    return replace(runtime, queues=Refusing(runtime.settings.queue_prefix))


@pytest.fixture
def publisher(client: Client) -> Client:
    """The publisher of the site `blog`."""
    return client.as_("pam", roles=["publisher"], sites=["blog"])
