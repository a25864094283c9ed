"""The sitemap of a site: all its public pages, with and without a discussion, and none twice."""

import xml.etree.ElementTree as ET
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest

from chalicelib.content.feeds import sitemap
from chalicelib.content.nodes import NODES
from chalicelib.content.visibility import shown_filter
from chalicelib.runtime import Runtime
from tests.content.support.factories import BASE, SITE, published, publisher, save, set_up
from tests.support.clock import Clock
from tests.support.commands import Commands
from tests.support.http_client import Client

INDEX, PAGES = f"/content/{SITE}/sitemap.xml", f"/content/{SITE}/pages.xml"
SPACE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def read(client: Client, path: str, kind: str) -> dict[str, str | None]:
    """Return the addresses of a sitemap or an index, each with its last change."""
    reply = client.get(path)
    assert reply.status == 200, reply.body
    assert reply.headers["Content-Type"] == "application/xml; charset=utf-8"
    assert reply.headers["Cache-Control"] == "public, max-age=3600"
    root = ET.fromstring(reply.body)  # noqa: S314 - our own
    assert root.tag == f"{SPACE}{kind}"
    items = [(each.findtext(f"{SPACE}loc"), each.findtext(f"{SPACE}lastmod")) for each in root]
    found = {location: changed for location, changed in items if location}
    assert len(found) == len(items)
    return found


def files(client: Client) -> list[str]:
    """Return the paths of all files that the index names."""
    parts = [urlsplit(each) for each in read(client, INDEX, "sitemapindex")]
    return [f"{each.path}?{each.query}" if each.query else each.path for each in parts]


def everything(client: Client) -> list[str]:
    """Return the addresses of all files of the index, as often as they are there."""
    return [url for path in files(client) for url in read(client, path, "urlset")]


def discuss(client: Client, name: str, url: str, site: str = SITE) -> None:
    root = client.as_("root", roles=["admin"])
    assert root.put(f"/nodes/{site}:{name}", title=name, url=url).status == 201


@pytest.fixture
def quiet(client: Client) -> Client:
    """A site whose pages have no discussions of their own."""
    set_up(client, comments="off")
    return client


def test_pages_without_a_discussion_are_there_with_their_last_change(
    quiet: Client, clock: Clock
) -> None:
    page = published(quiet, "moon")
    published(quiet, "guides/sun")
    begun = clock()
    clock.advance(hours=1)
    assert save(publisher(quiet), page, 1, title="The moon").status == 200
    again = publisher(quiet).post(f"/content/{SITE}/nodes/{page}/publish", version=2)
    assert again.status == 200

    assert read(quiet, PAGES, "urlset") == {
        f"{BASE}/moon": f"{clock():%Y-%m-%dT%H:%M:%SZ}",
        f"{BASE}/guides/sun": f"{begun:%Y-%m-%dT%H:%M:%SZ}",
    }


def test_the_index_has_each_page_once_with_a_discussion_or_without(client: Client) -> None:
    set_up(client, comments="open")
    published(client, "moon")
    set_up(client, comments="off")
    for name in ("sun", "rain"):
        published(client, name)
    discuss(client, "rain-of-a-page", f"{BASE}/rain?utm_source=mail")
    discuss(client, "elsewhere", "https://harbour.example/not-of-content")
    discuss(client, "other", f"{BASE}/sun", site="shop")

    wanted = ["moon", "not-of-content", "rain", "sun"]
    assert sorted(everything(client)) == [f"{BASE}/{name}" for name in wanted]
    assert list(read(client, PAGES, "urlset")) == [f"{BASE}/sun"]


def test_pages_are_there_while_they_are_public(quiet: Client, clock: Clock) -> None:
    published(quiet, "later", at=f"{clock() + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}")
    moon = published(quiet, "moon")
    assert list(read(quiet, PAGES, "urlset")) == [f"{BASE}/moon"]

    clock.advance(hours=1)
    assert publisher(quiet).post(f"/content/{SITE}/nodes/{moon}/unpublish").status == 200
    assert list(read(quiet, PAGES, "urlset")) == [f"{BASE}/later"]


def test_a_page_whose_discussion_is_deleted_is_there_without_it(client: Client) -> None:
    set_up(client, comments="open")
    page = published(client, "moon")
    root = client.as_("root", roles=["admin"])
    assert root.delete(f"/nodes/{SITE}:{page}").status == 204

    assert everything(client) == [f"{BASE}/moon"]


@pytest.mark.parametrize("in_a_file", [1, 3, 7, 20])
def test_many_pages_are_in_files_without_a_gap(
    quiet: Client, clock: Clock, monkeypatch: pytest.MonkeyPatch, in_a_file: int
) -> None:
    monkeypatch.setattr(sitemap, "FILE_PAGES", in_a_file)
    for number in range(10):
        published(quiet, f"n{number}")
        clock.advance(minutes=number % 3)

    wanted = sorted(f"{BASE}/n{number}" for number in range(10))
    assert sorted(everything(quiet)) == wanted
    before = files(quiet)
    published(quiet, "new")
    found = [url for path in before for url in read(quiet, path, "urlset")]
    assert sorted(found) == sorted([*wanted, f"{BASE}/new"])


def test_a_site_without_content_has_none(client: Client) -> None:
    for path in (INDEX, PAGES):
        assert client.get(path).status == 404


@pytest.mark.parametrize("part", ["x", "-", "1", "1-x", "1" * 15 + "-"])
def test_what_is_no_part_is_refused(quiet: Client, part: str) -> None:
    assert quiet.get(f"{PAGES}?part={part}").code == "invalid_request"


@pytest.mark.usefixtures("quiet")
def test_pages_are_counted_again_after_five_minutes(
    listened: Runtime, commands: Commands, clock: Clock
) -> None:
    sent: list[list[str]] = []
    for minutes in (0, 4, 1):
        clock.advance(minutes=minutes)
        commands.names.clear()
        sitemap._files(listened, SITE)
        sent.append([*commands.names])

    assert sent == [["aggregate"], [], ["aggregate"]]


def test_a_file_is_two_queries(quiet: Client, listened: Runtime, commands: Commands) -> None:
    published(quiet, "moon")
    commands.names.clear()
    found = sitemap._pages(listened, SITE, "", 10)

    assert list(found) == [f"{BASE}/moon"]
    assert commands.names == ["find", "find"]


def test_a_file_reads_an_index_of_its_time_alone(
    quiet: Client, clock: Clock, runtime: Runtime
) -> None:
    for number in range(10):
        published(quiet, f"n{number}")
        clock.advance(minutes=1)
    shown = {"site": SITE, **shown_filter(clock())}
    within = {"$and": [shown, {"published": {"$gte": clock() - timedelta(minutes=3)}}]}

    found: Any = NODES.of(runtime.database).find(within).sort([("published", -1), ("_id", -1)])
    told = found.explain()

    assert told["executionStats"]["totalKeysExamined"] <= 4
    assert "'SORT'" not in str(told["queryPlanner"]["winningPlan"])
