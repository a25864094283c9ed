"""The elements at home in other people's pages: all six at once, by the documentation alone."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Page, expect

from chalicelib.runtime import Runtime
from tests.ads.support.factories import campaign_body
from tests.assets.support.pictures import PICTURES
from tests.assets.support.uploading import Uploader
from tests.shop.support.buying import SKU, stocked
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import until
from tests.web.support.shop import CART
from tests.web.support.site import Site, serving
from tests.web.support.town import Town
from tests.web.test_ads import AD, SIZE
from tests.web.test_hits import held
from tests.web.test_visitors import PERSON

if TYPE_CHECKING:
    from wsgiref.types import StartResponse

expect.set_options(timeout=PATIENCE_MS)
NODE = "harbour:moon"
HERE = "/article/7"
WIDTH_OF_FILE = 64
DAY = "from=2026-03-01&to=2026-03-02"
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
    count: str = "1 comment"


HOSTS = {
    "plain": Host(),
    "dark": Host(css="html { background: #14171a; color: #e6e6e6; }"),
    "right to left": Host(language='ar" dir="rtl', count="تعليق واحد"),
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
    editor = Uploader(client.as_("eda", roles=["editor"], sites=["harbour"]), "/content/harbour")
    asset = editor.upload(PICTURES["image/png RGB"](), "image/png")
    size = {"width": SIZE["width"], "height": SIZE["height"]}
    picture = {"type": "image", "url": f"asset:{asset['id']}", "alt": "Bikes", **size}
    creative = {**picture, "landing_url": "https://b.example/"}
    body["ad_units"] = [{**body["ad_units"][0], "creative": creative}]
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


def sees_the_ad(page: Page) -> None:
    """Expect the advertiser's picture, whole and as wide as it was declared."""
    picture = page.locator("plaza-ad [part=ad] img")
    picture.scroll_into_view_if_needed()
    until(page, lambda: bool(picture.evaluate("(img) => img.complete && img.naturalWidth")))
    assert picture.evaluate("(img) => img.naturalWidth") == WIDTH_OF_FILE
    assert picture.evaluate("(img) => img.alt") == "Bikes"


def buys(page: Page) -> None:
    """Put one unit into the cart, and expect its line."""
    page.locator(f'[data-plaza-buy="{SKU}"]').click()
    line = page.locator("plaza-cart [part=line]")
    expect(line).to_have_count(1)
    expect(line.locator("b")).to_have_text("Moby-Dick")
    expect(line.locator("small").first).to_have_text(SKU)
    expect(line.locator("input")).to_have_value("1")


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
        expect(page.locator("plaza-count [part=count]")).to_have_text(host.count)
        expect(page.locator("plaza-feed [part~=post] [part=text]")).to_have_text("A flamingo.")
        sees_the_ad(page)
        buys(page)

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
    stats = (
        client.as_("admin", roles=["admin"]).get(f"/stats/harbour?{DAY}&group=path").json["rows"]
    )
    assert [(row["path"], row["hits"]) for row in stats] == [(hit["path"], 1)]
