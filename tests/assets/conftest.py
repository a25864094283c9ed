import pytest

from tests.assets.support.uploading import Uploader, editor_of
from tests.support.http_client import Client


@pytest.fixture
def editor(client: Client) -> Uploader:
    """An editor of the site who uploads."""
    return Uploader(editor_of(client))
