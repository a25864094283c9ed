"""How often pages were read, as analytics count them: asked for, in one round trip."""

import pytest

from chalicelib.content.reading.forms import MAX_VIEWED
from chalicelib.content.reading.views import Viewed
from chalicelib.runtime import Runtime
from chalicelib.wiring.pages import CountedPages
from tests.content.support.factories import BASE, SITE, published, publisher, read, set_up
from tests.support.clock import Clock
from tests.support.commands import Commands
from tests.support.http_client import Client
from tests.support.workers import Workers


def analyse(client: Client, *, public: bool = True) -> None:
    """Switch the site's analytics on."""
    reply = publisher(client).put(f"/sites/{SITE}/analytics", public=public)
    assert reply.status == 200, reply.body


def visit(client: Client, workers: Workers, *paths: str) -> None:
    """Have pages report that they were opened."""
    hits = [{"id": f"{number:016d}", "path": path} for number, path in enumerate(paths)]
    assert client.post("/hits", site=SITE, hits=hits).status == 202
    workers.drain()


def test_a_page_and_a_list_have_their_views_where_they_are_asked_for(
    site: Client, workers: Workers
) -> None:
    published(site, "moon")
    published(site, "guides/sun")
    analyse(site)
    visit(site, workers, "/moon", "/moon?utm_source=x", "/elsewhere")

    shown = read(site, "moon", "&include=views")
    entries = site.get(f"/content/{SITE}?include=views").json["entries"]

    assert shown.json["views"] == 2
    assert {each["address"]: each["views"] for each in entries} == {"moon": 2, "guides/sun": 0}
    assert read(site, "moon").json["views"] is None
    assert [each["views"] for each in site.get(f"/content/{SITE}").json["entries"]] == [None, None]


def test_views_are_of_the_path_that_the_sites_address_begins(
    site: Client, workers: Workers
) -> None:
    set_up(site, base_url=f"{BASE}/paper")
    published(site, "moon")
    analyse(site)
    visit(site, workers, "/paper/moon", "/moon", "/moon")

    assert read(site, "moon", "&include=views").json["views"] == 1


@pytest.mark.parametrize("is_counted", [False, True])
def test_views_are_null_where_a_site_has_none_or_keeps_them_private(
    site: Client,
    workers: Workers,
    is_counted: bool,  # noqa: FBT001 - the two cases
) -> None:
    published(site, "moon")
    if is_counted:
        analyse(site, public=False)
        visit(site, workers, "/moon")

    (entry,) = site.get(f"/content/{SITE}?include=views").json["entries"]

    assert entry["views"] is None
    assert read(site, "moon", "&include=views").json["views"] is None


def test_a_site_that_closes_its_reports_shows_no_views_a_minute_later(
    site: Client, workers: Workers, clock: Clock
) -> None:
    published(site, "moon")
    analyse(site)
    visit(site, workers, "/moon")
    assert read(site, "moon", "&include=views").json["views"] == 1

    analyse(site, public=False)
    clock.advance(minutes=1)

    assert read(site, "moon", "&include=views").json["views"] is None


def test_a_view_changes_no_entity_tag(site: Client, workers: Workers) -> None:
    published(site, "moon")
    analyse(site)
    before = read(site, "moon").headers["ETag"]

    visit(site, workers, "/moon")

    assert read(site, "moon").headers["ETag"] == before
    assert "ETag" not in read(site, "moon", "&include=views").headers


def test_views_are_told_of_a_bounded_number_of_pages(site: Client) -> None:
    most = site.get(f"/content/{SITE}?include=views&limit={MAX_VIEWED}")
    refused = site.get(f"/content/{SITE}?include=views&limit={MAX_VIEWED + 1}")

    assert most.status == 200
    assert refused.code == "invalid_request"
    assert site.get(f"/content/{SITE}?limit={MAX_VIEWED + 1}").status == 200


def test_the_views_of_a_hundred_pages_take_one_round_trip(
    site: Client, listened: Runtime, commands: Commands
) -> None:
    analyse(site)
    views = Viewed(CountedPages())
    views.of(listened, SITE, ["moon"])
    commands.names.clear()

    counted = views.of(listened, SITE, [f"page-{number}" for number in range(MAX_VIEWED)])

    assert set(counted.values()) == {0}
    assert commands.names == ["aggregate"]
