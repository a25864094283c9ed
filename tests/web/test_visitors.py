"""Visitors of a site's own: the documented server code, on a site, with a browser that reads it."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.http_client import Client
from tests.support.serving import served_application
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.site import Site
from tests.web.test_ads import TEXT, advertise, is_beacon

if TYPE_CHECKING:
    from wsgiref.types import StartResponse

__all__ = ["advertise"]  # a fixture

# A browser without a window names itself as such, and counts as a program.
PERSON = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0 Safari/537.36"
NOTE = """for (const name of ["plaza:shown", "plaza:empty"])
    addEventListener(name, () => document.documentElement.dataset.noted = name);"""
PAGE = Path(__file__).resolve().parents[2] / "docs" / "embed.md"


class Newspaper(Site):
    """A site that runs the documented code for each page."""

    has_agreed = True
    code: dict[str, Any]
    publisher_token: str

    def __call__(self, environ: dict[str, Any], start_response: "StartResponse") -> list[bytes]:
        """Answer with a page whose ad has the request's visitor."""
        if environ["PATH_INFO"] != "/":
            return super().__call__(environ, start_response)
        header = environ.get("HTTP_COOKIE", "")
        visitor, cookie = self.code["visitor_of"](header, self.has_agreed, self.publisher_token)
        self.body = self.code["ad"]("sidebar", visitor)

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            sent = [("Set-Cookie", cookie)] if cookie else []
            return start_response(status, [*headers, *sent], exc_info)

        return super().__call__(environ, start)


@pytest.fixture
def site(address: str, token: Callable[..., str]) -> Iterator[Newspaper]:
    """The newspaper, with the code as it stands in the page."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (code,) = (block for block in blocks if "ad_visitor" in block)
    paper = Newspaper(address)
    paper.code = {}
    exec(code, paper.code)  # noqa: S102 - what the documentation shows
    paper.code.update(API=address, SITE="harbour")
    paper.publisher_token = token("pat", roles=["publisher"], sites=["harbour"])
    with served_application(paper) as own:
        paper.address = own
        yield paper


def opened(open_page: OpenPage, site: Newspaper) -> Page:
    """Open the newspaper as a person, with a script of its own that notes what became of the ad."""
    return open_page(site, before=lambda page: page.add_init_script(NOTE), user_agent=PERSON)


def shows_ad(page: Page) -> bool:
    """Return whether the page that is open has got an ad."""
    noted = page.locator("html")
    expect(noted).to_have_attribute("data-noted", re.compile("plaza:"))
    return noted.get_attribute("data-noted") == "plaza:shown"


def test_a_reader_who_agreed_meets_an_ad_once_a_day(
    client: Client, site: Newspaper, open_page: OpenPage, advertise: Any, workers: Workers
) -> None:
    advertise(TEXT)
    page = opened(open_page, site)
    with page.expect_event("requestfinished", is_beacon, timeout=PATIENCE_MS):
        pass
    workers.drain()
    page.reload()
    assert not shows_ad(page)

    site.has_agreed = False
    (cookie,) = (each for each in page.context.cookies() if each["name"] == "ad_visitor")
    page.reload()
    assert shows_ad(page)
    assert page.context.cookies() == []
    # What was kept of them is gone: the value that they had has seen nothing.
    query = f"visitor={cookie['value']}"
    assert client.get(f"/ads/harbour/sidebar?{query}").json["ads"]


def test_a_reader_who_did_not_agree_is_not_remembered(
    site: Newspaper, open_page: OpenPage, advertise: Any
) -> None:
    advertise(TEXT)
    site.has_agreed = False
    page = opened(open_page, site)
    assert shows_ad(page)
    page.reload()
    assert shows_ad(page)
    assert page.context.cookies() == []


def test_a_forged_cookie_is_nobody_and_no_markup(site: Newspaper) -> None:
    visitor, cookie = site.code["visitor_of"](
        'ad_visitor="\\"><b>"', has_agreed=True, publisher_token=""
    )

    assert cookie == ""
    assert "<b>" not in site.code["ad"]("sidebar", visitor)
