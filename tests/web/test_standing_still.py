"""A plain page with every element, by the lines of the documentation alone: nothing in it moves."""

import re
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, Request, Route, expect

from chalicelib.settings import Settings
from deploy.declared import ROOT
from tests.ads.support.factories import campaign_body
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers
from tests.web.conftest import PATIENCE_MS, OpenPage
from tests.web.support.browser import until
from tests.web.support.rows import failing
from tests.web.support.shifts import Reading
from tests.web.support.site import Site
from tests.web.support.town import Town
from tests.web.support.two import REACTIONS

expect.set_options(timeout=PATIENCE_MS)
DOCUMENTATION = (ROOT / "docs" / "embed.md").read_text()
NODE, SITE = "harbour-post:moon", "harbour-post"
SCREENS = ({"width": 1280, "height": 800}, {"width": 390, "height": 844})
COMMENTS = 30


def block(language: str, holding: str) -> str:
    """Return the documentation's first block of a language that holds a text."""
    blocks = re.findall(rf"```{language}\n(.*?)```", DOCUMENTATION, re.DOTALL)
    return next(str(each) for each in blocks if holding in each)


@pytest.fixture
def host(client: Client, workers: Workers, clock: Clock, site: Site) -> Site:
    """A page of the documentation's lines and styles, with something to show in each element."""
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    marks: dict[str, Any] = {"votes": "up_down", "reactions": REACTIONS}
    assert admin.put(f"/sites/{SITE}/comments/settings", **marks).status == 200
    clock.advance(seconds=6)
    for number in range(COMMENTS):
        text = f"Comment {number}. " + "It is a long evening. " * (number % 4)
        assert client.as_("ben").post(f"/nodes/{NODE}/comments", text=text).status == 201
    size = {"width": 300, "height": 250}
    assert admin.put(f"/sites/{SITE}/zones/sidebar", size=size).status in {200, 201}
    body = campaign_body(f"{SITE}/sidebar")
    texts = {"headline": "Bikes", "body": "For rent", "landing_url": "https://b.example/"}
    body["ad_units"] = [{**body["ad_units"][0], "creative": {"type": "text", **texts}}]
    assert admin.put("/campaigns/north:spring", **body).status in {200, 201}
    key = {"Idempotency-Key": "funds", "Content-Type": "application/json"}
    funds = b'{"to_account_id": "advertiser:north", "amount_micros": 1000000000}'
    assert admin.request("POST", "/accounts/bank/transfers", body=funds, headers=key).status == 201
    assert admin.post("/campaigns/north:spring/activate").status == 200
    assert admin.put(f"/sites/{SITE}/analytics", public=True).status == 200
    town = Town(client, workers, clock)
    town.settle()
    for number in range(4):
        town.post(f"Post {number}.")
    # The loader is in the page's head already.
    site.body = block("html", "<plaza-comments").partition("\n")[2]
    site.css = block("css", "plaza-ad {")
    return site


def test_nothing_moves_in_a_page_of_the_documented_lines(
    client: Client, host: Site, open_page: OpenPage
) -> None:
    readings: list[Reading] = []
    page = open_page(host, before=lambda page: readings.append(Reading(page)))

    def stands_still(row: tuple[str, dict[str, int]]) -> None:
        sub, screen = row
        host.token = lambda: client.token(sub, name=sub.title()) if sub else None
        page.set_viewport_size(screen)  # type: ignore[arg-type]
        page.reload()
        assert readings[0].to_the_end() == []
        expect(page.get_by_role("article", name="Ben")).not_to_have_count(0)
        expect(page.get_by_role("group", name="Advertisement")).to_be_visible()

    assert failing([(sub, screen) for sub in ("", "ann") for screen in SCREENS], stands_still) == []
    # Without the styles it is seen to move.
    host.css = ""
    page.reload()
    assert readings[0].to_the_end() != []


class TestPictures:
    """Pictures in comments, from other hosts, which tell their size when they are there."""

    PICTURE = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="900"><rect width="300" '
        'height="900" fill="teal"/></svg>'
    )

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"image_sites": (SITE,)})

    @pytest.mark.parametrize("screen", SCREENS)
    def test_a_picture_moves_nothing_when_it_is_there(
        self, client: Client, host: Site, open_page: OpenPage, screen: dict[str, int]
    ) -> None:
        text = "![A tower](https://pictures.example/tower.svg)\n\nThe tower."
        posted = client.as_("ben").post(f"/nodes/{NODE}/comments", text=text)
        assert "<img" in posted.json["html"]
        client.as_("ben").post(f"/nodes/{NODE}/comments", text="Below the tower.")
        host.body = f'<plaza-comments node="{NODE}" order="newest"></plaza-comments>'
        readings: list[Reading] = []
        held: list[Route] = []

        def prepare(page: Page) -> None:
            readings.append(Reading(page))
            page.route("https://pictures.example/**", lambda route: held.append(route))  # noqa: PLW0108

        page = open_page(
            host,
            before=prepare,
            viewport=screen,
            may_log="request to another host: https://pictures.example",
        )
        expect(page.get_by_text("The tower.", exact=True)).to_be_visible()
        page.get_by_text("The tower.", exact=True).scroll_into_view_if_needed()
        until(page, lambda: bool(held))
        before = page.get_by_text("The tower.", exact=True).bounding_box()

        held[0].fulfill(body=self.PICTURE, content_type="image/svg+xml")

        picture = page.get_by_role("img", name="A tower")
        until(page, lambda: picture.evaluate("(image) => image.naturalHeight") > 0)
        assert page.get_by_text("The tower.", exact=True).bounding_box() == before
        assert readings[0].shifted() == []


@pytest.mark.parametrize("sub", ["", "mo"])
def test_votes_have_their_place_before_they_are_there(
    client: Client, host: Site, open_page: OpenPage, sub: str
) -> None:
    host.token = lambda: client.token(sub, roles=["moderator"]) if sub else None
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page = open_page(host, before=lambda page: page.route("**/marks.js", hold))
    places = """() => {
        const { shadowRoot } = document.querySelector("plaza-comments");
        const articles = [...shadowRoot.querySelectorAll("article")];
        return articles.map((each) => Math.round(each.getBoundingClientRect().top));
    }"""
    votes = page.get_by_role("button", name="Vote for this comment")

    for screen in SCREENS:
        page.set_viewport_size(screen)  # type: ignore[arg-type]
        page.reload()
        expect(page.locator("plaza-comments article")).to_have_count(COMMENTS)
        until(page, lambda: bool(held))
        before = page.evaluate(places)
        held.pop().continue_()
        expect(votes).to_have_count(COMMENTS)
        after = page.evaluate(places)
        assert max(abs(a - b) for a, b in zip(before, after, strict=True)) <= 1


@pytest.mark.parametrize("screen", SCREENS)
def test_nothing_moves_when_the_file_for_guests_is_late_and_a_press_before_it_counts(
    client: Client, clock: Clock, host: Site, open_page: OpenPage, screen: dict[str, int]
) -> None:
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/sites/{SITE}/comments/settings", guests="name").status == 200
    clock.advance(seconds=6)
    host.body = f'<plaza-comments node="{NODE}"></plaza-comments>'
    readings: list[Reading] = []
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    def prepare(page: Page) -> None:
        readings.append(Reading(page))
        page.route("**/guest.js", hold)

    page = open_page(host, before=prepare, viewport=screen)
    expect(page.locator("plaza-comments article")).to_have_count(COMMENTS)
    until(page, lambda: bool(held))
    first = page.locator("plaza-comments article").first
    top = first.bounding_box()

    held.pop().continue_()
    readings[0].rest()
    assert first.bounding_box() == top
    assert readings[0].shifted() == []

    page.reload()
    until(page, lambda: bool(held))
    page.get_by_role("button", name="Write without an account").click()
    held.pop().continue_()
    expect(page.get_by_role("textbox", name="Your name")).to_be_focused()


class TestProviders:
    """A site whose readers sign in by providers."""

    NAMES = {"harbour": "Harbour accounts of the whole district", "github": "GitHub"}  # noqa: RUF012

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"public_url": "https://plaza.example"})

    @pytest.fixture
    def offering(self, client: Client, clock: Clock, host: Site) -> Site:
        admin = client.as_("admin", roles=["admin"])
        own: Any = {"kind": "github", "client_id": "plaza", "client_secret": "secret"}
        for key, name in self.NAMES.items():
            assert admin.put(f"/sites/{SITE}/providers/{key}", name=name, **own).status == 200
        assert admin.put(f"/sites/{SITE}/comments/settings", guests="name").status == 200
        clock.advance(seconds=6)
        host.body = f'<plaza-comments node="{NODE}"></plaza-comments>'
        return host

    @pytest.mark.parametrize("screen", SCREENS)
    def test_they_stand_there_with_the_discussion_without_a_call_of_their_own(
        self, offering: Site, open_page: OpenPage, screen: dict[str, int]
    ) -> None:
        readings: list[Reading] = []
        held: list[Route] = []
        asked: list[Request] = []

        def prepare(page: Page) -> None:
            readings.append(Reading(page))
            page.route("**/guest.js", lambda route: held.append(route))  # noqa: PLW0108
            page.on("request", lambda request: asked.append(request))  # noqa: PLW0108

        page = open_page(offering, before=prepare, viewport=screen)
        expect(page.locator("plaza-comments article")).to_have_count(COMMENTS)
        first = page.locator("plaza-comments article").first
        top = first.bounding_box()
        until(page, lambda: bool(held))
        held.pop().continue_()
        readings[0].rest()

        assert first.bounding_box() == top
        assert readings[0].shifted() == []
        api, back = offering.api, quote(f"{offering.address}/", safe="")
        for key, name in self.NAMES.items():
            link = page.get_by_role("link", name=f"Sign in with {name}")
            address = f"{api}/sites/{SITE}/providers/{key}/sign-in?return_to={back}"
            expect(link).to_have_attribute("href", address)
        fetched = [each.url for each in asked if each.resource_type == "fetch"]
        calls = [url for url in fetched if not url.endswith(".js")]
        own = [each for each in calls if each.startswith(api)]
        assert own == [f"{api}/nodes/{quote(NODE, safe='')}/comments?limit=50"]


@pytest.mark.parametrize("screen", SCREENS)
def test_who_jumps_to_the_end_before_the_discussion_is_there_sees_nothing_move(
    host: Site, open_page: OpenPage, screen: dict[str, int]
) -> None:
    host.body = (
        f'<div class="tall"></div><plaza-comments node="{NODE}"></plaza-comments>'
        '<footer id="end">The end of the page</footer>'
    )
    host.css += " .tall { block-size: 300vh; }"
    readings: list[Reading] = []
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    def prepare(page: Page) -> None:
        readings.append(Reading(page))
        page.route("**/comments?*", hold)

    page = open_page(host, before=prepare, viewport=screen)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    until(page, lambda: bool(held))
    top = "Math.round(document.querySelector('#end').getBoundingClientRect().top)"
    before = page.evaluate(top)
    held.pop().continue_()
    expect(page.locator("plaza-comments article")).to_have_count(COMMENTS)
    readings[0].rest()

    assert page.evaluate(top) == before
    assert readings[0].shifted() == []
