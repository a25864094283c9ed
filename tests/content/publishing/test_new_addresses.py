"""A site's new address: the discussions of its pages follow, in steps and after a crash."""

import itertools

import pytest

from chalicelib.content.jobs import run_due
from chalicelib.content.nodes import NODES
from chalicelib.content.publishing import discussions, new_addresses
from chalicelib.content.settings import SITES
from chalicelib.content.shapes import Telling
from chalicelib.runtime import Runtime
from tests.content.support.factories import BASE, SITE, editor, published, set_up, write
from tests.shop.support.knife import Cut, Edge, cut
from tests.support.clock import Clock
from tests.support.http_client import Client
from tests.support.workers import Workers

NEW = "https://pier.example/news"
SLUGS = ("moon", "sun", "tide")


def urls(runtime: Runtime) -> list[str]:
    """Return the addresses of all discussions."""
    return sorted(each["url"] for each in runtime.database["comments.node"].find())


def follow(runtime: Runtime, clock: Clock, workers: Workers) -> None:
    """Let the schedule run, and the workers that it calls."""
    clock.advance(minutes=1)
    run_due(runtime)
    workers.drain()


@pytest.mark.bounds(content={"moved_at_once": 2})
def test_discussions_follow_their_site_to_a_new_address(
    site: Client, runtime: Runtime, clock: Clock, workers: Workers
) -> None:
    for slug in SLUGS:
        published(site, slug)
    write(editor(site), "draft")
    set_up(site, base_url=NEW)

    for _ in range(3):
        follow(runtime, clock, workers)

    assert urls(runtime) == [f"{NEW}/{slug}" for slug in SLUGS]
    found = site.get(f"/nodes?site={SITE}&url={NEW}/moon")
    assert (found.status, found.json["url"]) == (200, f"{NEW}/moon")
    assert site.get(f"/nodes?site={SITE}&url={BASE}/moon").code == "unknown_node"
    assert NODES.of(runtime.database).count_documents({"telling": {"$exists": True}}) == 0
    assert SITES.of(runtime.database).count_documents({"new_address": {"$exists": True}}) == 0


def test_the_sitemap_has_each_page_of_a_moved_site_once(
    site: Client, runtime: Runtime, clock: Clock, workers: Workers
) -> None:
    page = published(site)
    site.as_("ann").post(f"/nodes/{SITE}:{page}/comments", text="Indeed")
    set_up(site, base_url=NEW)
    follow(runtime, clock, workers)
    clock.advance(minutes=1)

    assert f"{NEW}/moon".encode() not in site.get(f"/content/{SITE}/pages.xml").body


@pytest.mark.bounds(content={"moved_at_once": 1})
def test_another_address_begins_from_the_first_page(
    site: Client, runtime: Runtime, clock: Clock, workers: Workers
) -> None:
    for slug in SLUGS:
        published(site, slug)
    set_up(site, base_url="https://typo.example")
    for _ in range(2):
        follow(runtime, clock, workers)
    set_up(site, base_url=NEW)

    for _ in range(5):
        follow(runtime, clock, workers)

    assert urls(runtime) == [f"{NEW}/{slug}" for slug in SLUGS]


@pytest.mark.bounds(content={"moved_at_once": 1})
def test_an_address_that_changes_during_a_step_begins_again(
    site: Client, runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    published(site)
    set_up(site, base_url="https://typo.example")
    clock.advance(minutes=1)

    def change_first(changed: Runtime) -> Telling:
        clock.advance(milliseconds=1)
        set_up(site, base_url=NEW)
        return note(changed)

    note = discussions.note
    monkeypatch.setattr(discussions, "note", change_first)
    new_addresses.note_updates(runtime)

    (stored,) = SITES.of(runtime.database).find()
    assert stored["new_address"]["after"] == ""


def test_other_settings_note_nothing(site: Client, runtime: Runtime, clock: Clock) -> None:
    published(site)
    set_up(site, title="The Pier")
    clock.advance(minutes=1)

    assert new_addresses.note_updates(runtime) == 0


@pytest.mark.bounds(content={"moved_at_once": 1})
def test_a_step_that_ends_at_any_write_is_repeated(
    site: Client,
    runtime: Runtime,
    clock: Clock,
    workers: Workers,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    edges: tuple[Edge, ...] = ("before", "after")
    for slug in SLUGS:
        published(site, slug)
    for number, edge in itertools.product(range(2), edges):
        base = f"https://pier-{number}-{edge}.example"
        set_up(site, base_url=base)
        clock.advance(minutes=1)
        with pytest.raises(Cut), cut(monkeypatch, number, edge):
            new_addresses.note_updates(runtime)
        for _ in range(4):
            follow(runtime, clock, workers)

        assert urls(runtime) == [f"{base}/{slug}" for slug in SLUGS]
