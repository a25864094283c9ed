"""The elements at home in other people's pages: all six at once, by the documentation alone."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Page, expect

from chalicelib.runtime import Runtime
from tests.ads.support.factories import campaign_body
from tests.shop.support.buying import stocked
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import until
from tests.web.support.shop import CART
from tests.web.support.site import Site, serving
from tests.web.support.town import Town
from tests.web.test_ads import AD, SIZE, TEXT
from tests.web.test_hits import held
from tests.web.test_visitors import PERSON

if TYPE_CHECKING:
    from wsgiref.types import StartResponse

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:moon"
HERE = "/article/7"
ELEMENTS = (
    f'<plaza-comments node="{NODE}" loading="eager"></plaza-comments>'
    f'<a href="#"><plaza-count node="{NODE}">Comments</plaza-count></a>'
    f'{AD}<plaza-feed view="news" loading="eager"></plaza-feed>{CART}'
    '<plaza-hit site="harbour"></plaza-hit>'
)
INTO_A_SHADOW = """(markup) => {
    const root = document.querySelector("x-library").attachShadow({ mode: "open" });
    root.append(document.createRange().createContextualFragment(markup));
}"""


@dataclass(frozen=True)
class Host:
    """A page of somebody else: where it is, and what is its own."""

    at: str = HERE
    language: str = "en"
    css: str = ""
    head: str = ""
    has_policy: bool = False
    is_library: bool = False


HOSTS = {
    "plain": Host(),
    "dark": Host(css="html { background: #14171a; color: #e6e6e6; }"),
    "right to left": Host(language='ar" dir="rtl'),
    "strict policy": Host(has_policy=True),
    "shadow root": Host(is_library=True),
    "hash routes": Host(at="/#/article/7"),
    "base": Host(head='<base href="/">'),
}


@dataclass
class OtherSite(Site):
    """A site with a page of an article, and with a policy only where it says so."""

    has_policy: bool = False

    @property
    def policy(self) -> str:
        """Return the strictest policy, or that of a page without one."""
        return super().policy if self.has_policy else ""

    def __call__(self, environ: dict[str, Any], start_response: "StartResponse") -> list[bytes]:
        """Answer with the page below `/article/`, too."""
        if environ["PATH_INFO"] == HERE:
            environ = {**environ, "PATH_INFO": "/"}
        return super().__call__(environ, start_response)


@pytest.fixture(autouse=True)
def _filled(client: Client, workers: Workers, clock: Clock) -> None:
    """Something for each element to show."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    first = client.as_("ben", name="Ben").post(f"/nodes/{NODE}/comments", text="The first.")
    assert first.status == 201
    town = Town(client, workers, clock)
    town.settle()
    town.post("A flamingo.")
    stocked(client, 3)
    assert admin.put("/sites/harbour/analytics", user_reports=True).status == 200
    zone = admin.put("/sites/harbour/zones/sidebar", size=SIZE, can_hold_html=True)
    assert zone.status in {200, 201}
    body = campaign_body("harbour/sidebar")
    body["ad_units"] = [{**body["ad_units"][0], "creative": TEXT}]
    assert admin.put("/campaigns/north:spring", **body).status in {200, 201}
    key = {"Idempotency-Key": "funds", "Content-Type": "application/json"}
    funds = b'{"to_account_id": "advertiser:north", "amount_micros": 1000000000}'
    assert admin.request("POST", "/accounts/bank/transfers", body=funds, headers=key).status == 201
    assert admin.post("/campaigns/north:spring/activate").status == 200


def write(page: Page, form: str, text: str) -> None:
    """Write into a form, and send it."""
    page.locator(f"{form} textarea").fill(text)
    page.locator(f"{form} button.primary").click()
    expect(page.locator("plaza-comments .text", has_text=text)).to_be_visible()


@pytest.fixture
def hits(runtime: Runtime, workers: Workers) -> Callable[[], list[Any]]:
    """Return the hits that the API has counted."""
    return lambda: held(runtime, workers)


@pytest.mark.parametrize("name", HOSTS)
def test_a_page_has_all_six_elements_at_home(
    name: str,
    client: Client,
    address: str,
    open_page: OpenPage,
    hits: Callable[[], list[Any]],
) -> None:
    host = HOSTS[name]
    markup = "<x-library></x-library>" if host.is_library else ELEMENTS
    site = OtherSite(
        address,
        lambda: client.token("ann", name="Ann"),
        markup,
        host.language,
        host.css,
        head=host.head,
        has_policy=host.has_policy,
    )
    with serving(site):
        page = open_page(site, at=host.at, user_agent=PERSON)
        if host.is_library:
            page.evaluate(INTO_A_SHADOW, ELEMENTS)
        expect(page.locator("plaza-comments .text")).to_have_text("The first.")
        expect(page.locator("plaza-count")).to_have_text(
            re.compile(r"1|\u062a\u0639\u0644\u064a\u0642")
        )
        expect(page.locator("plaza-ad [part=ad]")).to_be_attached()
        expect(page.locator("plaza-feed [part~=post]")).to_contain_text("A flamingo.")
        expect(page.locator("plaza-cart [part~=root]")).not_to_be_empty()

        write(page, "plaza-comments form", "Mine.")
        mine = page.locator("plaza-comments li", has_text="Mine.").last
        mine.locator("[data-does=reply]").click()
        write(page, "plaza-comments li form", "A reply.")
        before = page.url
        reply = page.locator("plaza-comments li", has_text="A reply.").last
        reply.locator("header a:has(time), header time a").first.click()

        expect(reply).to_have_class(re.compile("target"))
        assert page.url != before
        assert HERE in page.url
        # An application hears of no step of a link within its route.
        if "#" in host.at:
            assert "?plaza=" in page.url
        else:
            page.go_back()
            until(page, lambda: page.url == before)
        expect(page.locator("plaza-comments .text")).to_have_count(3)
    (hit,) = hits()
    assert hit["path"] == host.at.partition("#")[0]
