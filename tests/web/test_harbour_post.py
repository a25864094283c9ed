"""The demo newspaper in a browser: read as somebody, write, and see what the page called."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from chalice.app import Chalice
from playwright.sync_api import Page, expect

from chalicelib.comments.latest import discussed
from chalicelib.runtime import Runtime
from local import demo, demo_articles
from local.gateway import Gateway, wsgi_application
from local.site import Site, with_site
from tests.support.http_client import Client
from tests.support.serving import served_application
from tests.support.workers import Workers
from tests.web.conftest import OpenPage
from tests.web.support.axe import in_both_schemes

NODE = "harbour-post:lighthouse-cafe"
ARTICLE = "/articles/lighthouse-cafe"
PATIENCE_MS = 20_000


@pytest.fixture
def address(app: Chalice, runtime: Runtime) -> Iterator[str]:
    """The address of the test's app, with the newspaper before it."""
    site = Site(runtime.settings, runtime.now)
    with served_application(with_site(site, wsgi_application(Gateway(app)))) as started:
        yield started


def as_person(client: Client) -> demo_articles.Call:
    """Return what makes the demo's calls, as whoever makes them."""

    def call(
        method: str, path: str, body: Any, *, sub: str, roles: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        kind = "octet-stream" if isinstance(body, bytes) else "json"
        reply = client.as_(sub, roles=[*roles]).request(
            method,
            path,
            body=body if isinstance(body, bytes) else json.dumps(body).encode(),
            headers={"Content-Type": f"application/{kind}"},
        )
        assert reply.status < 300, reply.body
        found: dict[str, Any] = reply.json if reply.body else {}
        return found

    return call


@pytest.fixture(autouse=True)
def town(client: Client) -> None:
    """The articles' discussions, one of them with a comment, and two people."""
    admin = client.as_("admin", roles=["admin"])
    for node in demo.DATA["nodes"]:
        settings = {name: node[name] for name in ("title", "url", "threaded")}
        assert admin.put(f"/nodes/{node['id']}", **settings).status == 201
    for zone in demo.DATA["zones"]:
        size = {"width": zone["width"], "height": zone["height"]}
        path = f"/sites/{demo.DATA['site']}/zones/{zone['id']}"
        assert admin.put(path, size=size).status == 201
    demo_articles.load(as_person(client), demo.DATA["site"], "http://127.0.0.1:8000")
    discussions = f"/sites/{demo.DATA['site']}/comments/settings"
    assert admin.put(discussions, search=True).status == 200
    for sub in ("tobias", "ines"):
        name = demo.DATA["people"][sub]
        assert client.as_(sub, name=name).put("/users/me").status == 200
    assert client.as_("pavel").post(f"/nodes/{NODE}/comments", text="Parking?").status == 201


@pytest.fixture
def open_article(open_page: OpenPage) -> Callable[..., Page]:
    """Opens the article and goes to its discussion."""

    def opened(**options: object) -> Page:
        page = open_page(ARTICLE, **options)
        page.set_default_timeout(PATIENCE_MS)
        page.locator("plaza-comments").scroll_into_view_if_needed()
        return page

    return opened


def test_the_front_page_counts_comments(open_page: OpenPage) -> None:
    page = open_page("/")

    expect(page.get_by_role("link", name="1 comment")).to_be_visible(timeout=PATIENCE_MS)


def test_a_reader_searches_the_comments_from_the_front_page(open_page: OpenPage, axe: str) -> None:
    page = open_page("/")
    page.set_default_timeout(PATIENCE_MS)
    page.get_by_role("searchbox", name="Words of a comment").fill("parking")
    page.get_by_role("button", name="Search").click()

    found = page.get_by_role("listitem").filter(has_text="Parking?")
    expect(found).to_contain_text("Pavel")
    link = found.get_by_role("link")
    expect(link).to_have_attribute("href", re.compile("lighthouse-cafe#"))
    expect(page.get_by_role("searchbox")).to_have_value("parking")
    assert in_both_schemes(page, axe) == []

    page.get_by_role("searchbox").fill("parking dragons")
    page.get_by_role("searchbox").press("Enter")
    expect(page.get_by_role("status")).to_have_text("No comment has all of these words.")


def test_the_front_page_names_the_most_discussed(
    open_page: OpenPage, runtime: Runtime, axe: str
) -> None:
    discussed.count_due(runtime)

    page = open_page("/")

    box = page.get_by_role("heading", name="Most discussed").locator("..")
    expect(box.get_by_role("listitem")).to_have_text(re.compile("1 comment"))
    assert in_both_schemes(page, axe) == []


@pytest.fixture
def neighbours(client: Client, workers: Workers) -> None:
    """Tobias follows Inês, who has posted."""
    tobias = client.as_("tobias", name="Tobias Kern")
    assert tobias.put("/users/me/circles/birders", name="Birders").status == 201
    assert tobias.put("/users/me/circles/birders/members/ines").status == 204
    ride = {"question": "Which way?", "options": ["The woods", "The wall"]}
    post = {"type": "poll", "detail": ride, "circles": ["*public*"]}
    assert client.as_("ines").post("/posts", **post).status == 201
    workers.drain()


@pytest.mark.usefixtures("neighbours")
def test_the_town_is_read_as_one_of_its_people_and_written_to(
    open_page: OpenPage, workers: Workers
) -> None:
    page = open_page("/in-town")
    page.set_default_timeout(PATIENCE_MS)
    news = page.locator("plaza-feed[view=news]")
    page.get_by_role("button", name="Sign in to read your news").click()
    expect(page.get_by_label("Read as")).to_have_value("tobias")

    expect(news.get_by_role("article", name="Inês Carvalho")).to_be_visible(timeout=PATIENCE_MS)
    news.get_by_role("textbox", name="What is new?").fill("Fog.")
    news.get_by_role("button", name="Post", exact=True).click()
    expect(news.get_by_role("article", name="Tobias Kern")).to_be_visible(timeout=PATIENCE_MS)
    workers.drain()
    page.get_by_role("navigation", name="Feeds").get_by_role("link", name="Your wall").click()

    wall = page.locator("plaza-feed[view=wall]")
    expect(wall.get_by_role("article", name="Tobias Kern")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_text("What happened", exact=True).click()
    row = page.get_by_role("row", name=re.compile("^GET .users.me.wall"))
    expect(row.get_by_role("button", name="Copy as curl")).to_be_visible()


@pytest.mark.processes
@pytest.mark.usefixtures("neighbours")
@pytest.mark.parametrize("path", ["/", ARTICLE, "/in-town"])
def test_a_page_breaks_no_rule_of_accessibility(open_page: OpenPage, axe: str, path: str) -> None:
    page = open_page(path)
    page.get_by_label("Read as").select_option("tobias")
    for element in page.locator("plaza-feed, plaza-comments").all():
        element.scroll_into_view_if_needed()
        expect(element.locator("section")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_text("What happened", exact=True).click()
    expect(page.get_by_role("button", name="Copy as curl").first).to_be_visible()

    assert in_both_schemes(page, axe) == []


@pytest.mark.parametrize("path", ["/", ARTICLE, "/in-town", "/search?q=parking"])
def test_a_page_fits_on_a_narrow_phone(open_page: OpenPage, path: str) -> None:
    page = open_page(path, viewport={"width": 320, "height": 700})
    page.get_by_text("What happened", exact=True).click()

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_guest_who_signs_in_is_somebody_and_may_write_at_once(
    open_article: Callable[..., Page],
) -> None:
    page = open_article()
    page.get_by_role("button", name="Sign in to comment").click()

    expect(page.get_by_role("textbox", name="Write a comment")).to_be_focused(timeout=PATIENCE_MS)
    expect(page.get_by_label("Read as")).to_have_value("tobias")


def test_somebody_is_chosen_and_writes(open_article: Callable[..., Page]) -> None:
    page = open_article()
    page.get_by_label("Read as").select_option("tobias")
    page.get_by_role("textbox", name="Write a comment").fill("By *bicycle*.")
    page.get_by_role("button", name="Post", exact=True).click()

    expect(page.get_by_text("By bicycle.")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_text("Tobias Kern", exact=True)).to_be_visible()


def test_the_choice_outlives_a_page(open_article: Callable[..., Page]) -> None:
    page = open_article()
    page.get_by_label("Read as").select_option("mara")
    page.get_by_role("link", name="Letters", exact=True).click()

    expect(page.get_by_label("Read as")).to_have_value("mara", timeout=PATIENCE_MS)


def test_calls_are_listed_and_copied_without_the_token(open_article: Callable[..., Page]) -> None:
    page = open_article(permissions=["clipboard-read", "clipboard-write"])
    page.get_by_label("Read as").select_option("tobias")
    page.get_by_role("textbox", name="Write a comment").fill("It's there.")
    page.get_by_role("button", name="Post", exact=True).click()
    page.get_by_text("What happened", exact=True).click()
    row = page.get_by_role("row", name=re.compile("^POST .nodes"))
    expect(row).to_contain_text(f"/nodes/{NODE}/comments", timeout=PATIENCE_MS)
    expect(row).to_contain_text("201")

    row.get_by_role("button", name="Copy as curl").click()
    expect(row.get_by_role("button", name="Copied")).to_be_visible()

    command = page.evaluate("navigator.clipboard.readText()")
    assert re.match(r"curl -X POST ", command)
    assert '-H "Authorization: Bearer $TOKEN"' in command
    assert r"""--data-raw '{"text":"It'\''s there.","website":"",""" in command
    assert "eyJ" not in command


def test_the_lines_for_other_pages_are_copied(open_page: OpenPage, address: str) -> None:
    page = open_page(ARTICLE, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the lines").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible(timeout=PATIENCE_MS)

    assert page.evaluate("navigator.clipboard.readText()").splitlines()[:2] == [
        f'<script type="module" async src="{address}/web/v1/plaza.js"></script>',
        f'<plaza-comments node="{NODE}"></plaza-comments>',
    ]


def test_what_is_published_is_on_the_front_page_and_where_it_moves(
    open_page: OpenPage, client: Client
) -> None:
    call, site = as_person(client), demo.DATA["site"]
    who: Any = {"sub": "editor", "roles": ("admin",)}
    page = {"type": "page", "slug": "articles/fog", "title": "Fog", "detail": {"text": "*Thick*."}}
    node = call("POST", f"/content/{site}/nodes", page, **who)
    call("POST", f"/content/{site}/nodes/{node['id']}/publish", {"version": 1}, **who)
    call("POST", f"/content/{site}/move", {"from": "articles/", "to": "articles/old/"}, **who)

    shown = open_page("/")
    shown.get_by_role("link", name="Fog").first.click()
    expect(shown.get_by_role("heading", name="Fog")).to_be_visible(timeout=PATIENCE_MS)
    shown.goto(shown.url.replace("/old/", "/"))

    expect(shown.get_by_role("heading", name="Fog")).to_be_visible(timeout=PATIENCE_MS)
    assert shown.url.endswith("/articles/old/fog")


def test_a_page_is_counted_and_says_how_often(
    open_page: OpenPage, client: Client, workers: Workers
) -> None:
    page = open_page(ARTICLE)
    page.wait_for_load_state("networkidle")
    workers.drain()

    told = client.get(f"/page-counts?site={demo.DATA['site']}&paths={ARTICLE}").json[ARTICLE]
    page.reload()

    assert told > 0
    expect(page.get_by_text(f"{told} views").first).to_be_visible(timeout=PATIENCE_MS)
