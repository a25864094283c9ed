"""Pictures of every kind are taken, and a browser shows them at the size that Plaza says."""

import base64
from collections.abc import Iterator
from contextlib import closing

import pytest
from playwright.sync_api import Browser, Page

from tests.assets.support.pictures import PICTURES, SIZE
from tests.assets.support.uploading import Uploader
from tests.support.http_client import Client

_SIZE_IN_A_PAGE = """async (address) => {
    const image = new Image();
    image.src = address;
    await image.decode();
    return [image.naturalWidth, image.naturalHeight];
}"""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    with closing(browser.new_page()) as opened:
        yield opened


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_taken_and_shown_at_its_size(
    editor: Uploader, client: Client, page: Page, name: str
) -> None:
    asset = editor.upload(PICTURES[name](), name.split(maxsplit=1)[0])

    told = asset["current"]
    whole = client.get(told["url"])
    assert (whole.status, whole.headers["Content-Type"]) == (200, told["type"])
    address = f"data:{told['type']};base64,{base64.b64encode(whole.body).decode()}"
    shown = page.evaluate(_SIZE_IN_A_PAGE, address)
    assert shown == [told["width"], told["height"]]
    assert sorted(shown) == sorted(SIZE)
