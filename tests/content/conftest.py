import pytest

from tests.content.support.factories import set_up
from tests.support.http_client import Client


@pytest.fixture
def site(client: Client) -> Client:
    """A site that publishes, as its readers see it."""
    set_up(client)
    return client
