"""An ad on somebody else's page: shown, labelled, clicked, and counted once it was seen."""

from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect

from tests.ads.support.factories import campaign_body
from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.site import Site

expect.set_options(timeout=PATIENCE_MS)
SIZE = {"width": 300, "height": 250}
AD = '<plaza-ad site="harbour" zone="sidebar" width="300" height="250"></plaza-ad>'
TEXT = {
    "type": "text",
    "headline": "Bikes",
    "body": "For rent",
    "landing_url": "https://b.example/",
}
HTML = {
    "type": "html",
    "html": "<p>Markup</p><script>document.title = 'ran'</script>",
    "landing_url": "https://b.example/",
}


@pytest.fixture
def advertise(client: Client, site: Site) -> Any:
    """Puts a campaign with this creative into the site's zone; its page shows the zone."""
    admin = client.as_("admin", roles=["admin"])
    zone = {"size": SIZE, "can_hold_html": True}
    assert admin.put("/sites/harbour/zones/sidebar", **zone).status in {200, 201}
    site.body = AD

    def put(creative: dict[str, Any]) -> None:
        body = campaign_body("harbour/sidebar")
        body["ad_units"] = [{**body["ad_units"][0], "creative": creative}]
        assert admin.put("/campaigns/north:spring", **body).status in {200, 201}
        key = {"Idempotency-Key": "funds", "Content-Type": "application/json"}
        funds = b'{"to_account_id": "advertiser:north", "amount_micros": 1000000000}'
        paid = admin.request("POST", "/accounts/bank/transfers", body=funds, headers=key)
        assert paid.status == 201
        assert admin.post("/campaigns/north:spring/activate").status == 200

    return put


def is_beacon(request: Request) -> bool:
    return "/ads/events/" in request.url


def impressions(client: Client, workers: Workers) -> int:
    """Return how many impressions are counted, of people and of programs."""
    workers.drain()
    admin = client.as_("admin", roles=["admin"])
    query = "from=2026-01-01&to=2026-12-31"
    rows = admin.get(f"/reports/campaigns/north:spring?{query}").json["rows"]
    return sum(row["impressions"] + row["bots"] for row in rows)


def test_an_ad_is_labelled_linked_and_counted_once_it_was_seen(
    client: Client, site: Site, open_page: OpenPage, advertise: Any, workers: Workers
) -> None:
    advertise(TEXT)
    page = open_page(site)

    expect(page.get_by_role("group", name="Advertisement")).to_contain_text("For rent")
    link = page.get_by_role("link", name="Bikes")
    assert link.get_attribute("rel") == "sponsored nofollow noopener"
    assert "/ads/click/" in (link.get_attribute("href") or "")
    with page.expect_event("requestfinished", is_beacon):
        pass
    assert impressions(client, workers) == 1


@pytest.mark.parametrize("alt", ["", " "])
def test_a_picture_without_words_is_a_link_with_a_name(
    site: Site, open_page: OpenPage, advertise: Any, alt: str
) -> None:
    picture = {"type": "image", "url": "https://b.example/a.png", "alt": alt, **SIZE}
    advertise({**picture, "landing_url": "https://b.example/"})
    page = open_page(site, may_log=("Failed to load resource", "https://b.example/a.png"))

    expect(page.get_by_role("link", name="Advertisement")).to_be_visible()


def test_an_ad_below_the_fold_is_not_counted_until_it_comes_into_view(
    client: Client, site: Site, open_page: OpenPage, advertise: Any, workers: Workers
) -> None:
    advertise(TEXT)
    site.body = f"<p>{'text<br>' * 60}</p>{AD.replace('<plaza-ad', '<plaza-ad loading=eager')}"
    page = open_page(site)
    expect(page.get_by_role("link", name="Bikes")).to_be_attached()
    expect(page.get_by_role("link", name="Bikes")).not_to_be_in_viewport()
    page.clock.install()
    page.clock.run_for(5_000)
    assert impressions(client, workers) == 0

    with page.expect_request("**/ads/events/*"):
        page.get_by_role("link", name="Bikes").scroll_into_view_if_needed()
        page.clock.run_for(5_000)


def test_an_ad_moves_nothing_when_its_page_reserves_its_place(
    site: Site, open_page: OpenPage, advertise: Any
) -> None:
    """By the rule that the documentation gives, since no script runs before the first paint."""
    advertise(TEXT)
    site.css = "plaza-ad { display: block; min-block-size: calc(250px + 1.25rem); }"
    site.body = f"{AD}<p>What follows</p>"
    page = open_page(site)
    expect(page.get_by_role("link", name="Bikes")).to_be_visible()

    assert shifts(page) == 0


def shifts(page: Page) -> float:
    """Return how much of the page has moved since it was loaded (Layout Instability API)."""
    found: float = page.evaluate(
        """() => new Promise((resolve) => {
            let sum = 0;
            new PerformanceObserver((list) => {
                for (const each of list.getEntries()) sum += each.value;
            }).observe({ type: "layout-shift", buffered: true });
            requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
        })"""
    )
    return found


def test_markup_of_an_advertiser_runs_in_a_frame_of_its_own(
    site: Site, open_page: OpenPage, advertise: Any
) -> None:
    advertise(HTML)
    page = open_page(site)

    frame = page.frame_locator("iframe")
    expect(frame.get_by_text("Markup")).to_be_visible()
    assert page.title() == "The page of a site"
    assert page.locator("iframe").get_attribute("sandbox") == (
        "allow-scripts allow-popups allow-popups-to-escape-sandbox"
    )
    origin = page.frames[1].evaluate("self.origin")
    assert origin == "null"


FITTING = """<body style="margin: 0"><a id=ad style="display: block; height: 90px">Go</a><script>
ad.href = location.hash.slice(1);
addEventListener("message", ({ data }) => parent.postMessage({ plaza: { height: data } }, "*"));
parent.postMessage({ plaza: { height: 90 } }, "*");
</script>"""


def test_a_frame_is_as_high_as_its_creative_and_counts_its_clicks(
    site: Site, open_page: OpenPage, advertise: Any
) -> None:
    advertise({**HTML, "html": FITTING})
    page = open_page(site)
    frame = page.locator("iframe")

    expect(frame).to_have_css("height", "90px")
    href = page.frame_locator("iframe").get_by_role("link", name="Go").get_attribute("href")
    assert href is not None
    assert "/ads/click/" in href
    # The place that was reserved stays, so that nothing below moves.
    assert page.locator("plaza-ad").bounding_box()["height"] == 250 + 20  # type: ignore[index]
    for told, height in ((9_999, "250px"), (1, "50px"), ("x", "50px")):
        page.frames[1].evaluate("([told]) => postMessage(told, '*')", [told])
        expect(frame).to_have_css("height", height)


def test_a_page_changes_no_frame_by_a_message_of_its_own(
    site: Site, open_page: OpenPage, advertise: Any
) -> None:
    advertise(HTML)
    page = open_page(site)
    expect(page.locator("iframe")).to_have_css("height", "250px")

    page.evaluate("postMessage({ plaza: { height: 60 } }, '*')")
    page.evaluate("new Promise((resolve) => setTimeout(resolve))")

    expect(page.locator("iframe")).to_have_css("height", "250px")


def test_an_empty_zone_says_so_to_the_page(site: Site, open_page: OpenPage, client: Client) -> None:
    admin = client.as_("admin", roles=["admin"])
    admin.put("/sites/harbour/zones/sidebar", size=SIZE)
    site.body = f"{AD.replace('></plaza-ad>', '>An appeal of our own</plaza-ad>')}"

    page = open_page(site)

    expect(page.get_by_text("An appeal of our own")).to_be_visible()


def test_counts_of_a_whole_page_are_one_call(
    client: Client, site: Site, open_page: OpenPage
) -> None:
    admin = client.as_("admin", roles=["admin"])
    for name, comments in (("one", 1), ("two", 2)):
        admin.put(f"/nodes/{name}", title=name, url="https://a.example/")
        for number in range(comments):
            client.as_("ann").post(f"/nodes/{name}/comments", text=f"{number}")
    asked: list[str] = []
    names = ("one", "two", "none")
    site.body = "".join(f'<p><plaza-count node="{name}">-</plaza-count></p>' for name in names)

    page = open_page(site, before=lambda page: page.on("request", lambda r: asked.append(r.url)))

    for text in ("1 comment", "2 comments", "0 comments"):
        expect(page.get_by_text(text, exact=True)).to_be_visible()
    assert len([url for url in asked if "/comment-counts" in url]) == 1
