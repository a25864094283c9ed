"""Addresses: claimed by one page, and leading somewhere for ever once they were public."""

import threading
from datetime import timedelta

import pytest

from chalicelib.content.jobs import run_due
from chalicelib.content.publishing.addresses import ADDRESSES
from chalicelib.runtime import Runtime
from tests.content.support.factories import (
    SITE,
    editor,
    node,
    publish,
    published,
    publisher,
    read,
    save,
    write,
)
from tests.support.clock import Clock
from tests.support.http_client import Client


def readdress(client: Client, node_id: str, version: int, slug: str) -> None:
    save(editor(client), node_id, version, slug=slug)
    assert publish(client, node_id, version + 1).status == 200


def test_an_old_address_leads_to_the_page_and_not_to_the_next_address(site: Client) -> None:
    node_id = published(site, "one")
    for version, slug in enumerate(("two", "three"), 1):
        readdress(site, node_id, version, slug)

    for old in ("one", "two"):
        moved = read(site, old)
        assert moved.code == "page_moved"
        assert moved.json["facts"] == {"address": "three"}
        assert moved.headers["Location"].endswith(f"/content/{SITE}/page?address=three")
    readdress(site, node_id, 3, "one")

    assert read(site, "one").status == 200
    assert read(site, "three").json["facts"] == {"address": "one"}


@pytest.mark.parametrize(
    "more",
    ["", "&include=discussion", "&include=neighbours,discussion", "&include=views&include=x"],
)
def test_an_old_address_leads_on_with_the_rest_of_the_query(site: Client, more: str) -> None:
    node_id = published(site, "moon")
    save(editor(site), node_id, 1, slug="the/new moon".replace(" ", "-"))
    publish(site, node_id, 2)

    moved = read(site, "moon", more)
    if more.endswith("x"):
        assert moved.code == "invalid_request"
        return
    location = moved.headers["Location"]

    assert (moved.status, moved.code) == (308, "page_moved")
    assert location.endswith(f"/content/{SITE}/page?address=the/new-moon{more}")
    there = site.get(location[location.index("/content/") :])
    assert there.status == 200
    assert (there.json["neighbours"] is not None) == ("neighbours" in more)


def test_drafts_claim_no_address_and_leave_no_redirect(site: Client, runtime: Runtime) -> None:
    edda = editor(site)
    node_id = write(edda, "first")
    save(edda, node_id, 1, slug="second")
    publish(site, node_id, 2)

    assert read(site, "first").code == "unknown_content"
    assert ADDRESSES.of(runtime.database).count_documents({}) == 1


def test_an_address_that_was_only_planned_leads_nowhere(site: Client, clock: Clock) -> None:
    edda, later = editor(site), (clock() + timedelta(hours=1)).isoformat()
    node_id = write(edda, "planned")
    publish(site, node_id, at=later)
    save(edda, node_id, 1, slug="better")
    publish(site, node_id, 2, at=later)
    clock.advance(hours=2)

    assert read(site, "planned").code == "unknown_content"
    assert read(site, "better").status == 200


def test_the_next_address_is_told_to_nobody_before_its_instant(
    site: Client, runtime: Runtime, clock: Clock
) -> None:
    edda, later = editor(site), clock() + timedelta(hours=1)
    node_id = published(site, "now")
    save(edda, node_id, 1, slug="then")
    publish(site, node_id, 2, at=later.isoformat())

    assert (read(site, "now").status, read(site, "then").code) == (200, "unknown_content")
    clock.time = later
    assert (read(site, "now").code, read(site, "then").status) == ("page_moved", 200)
    run_due(runtime)
    assert (read(site, "now").code, read(site, "then").status) == ("page_moved", 200)


def test_an_address_belongs_to_one_page(site: Client) -> None:
    first = published(site, "moon")
    second = write(editor(site), "moon")

    refused = publish(site, second, take=True)

    assert refused.code == "address_taken"
    assert refused.json["facts"] == {"address": "moon", "id": first, "is_current": True}
    assert editor(site).get(node(second)).json["live"] is None


def test_an_old_address_is_taken_over_only_by_saying_so(site: Client) -> None:
    first = published(site, "moon")
    readdress(site, first, 1, "old-moon")
    second = write(editor(site), "moon", title="New")

    refused = publish(site, second)
    assert refused.json["facts"]["is_current"] is False
    assert read(site, "moon").code == "page_moved"
    assert publish(site, second, take=True).status == 200

    assert read(site, "moon").json["title"] == "New"
    assert read(site, "old-moon").status == 200


def plan_at_old_address(site: Client, at: str) -> tuple[str, str]:
    """Plan a page at the old address of another; return the ids of both."""
    first = published(site, "moon")
    readdress(site, first, 1, "old-moon")
    second = write(editor(site), "moon", title="New")
    assert publish(site, second, take=True, at=at).status == 200
    return first, second


def test_an_old_address_leads_to_its_page_until_the_other_page_appears(
    site: Client, runtime: Runtime, clock: Clock
) -> None:
    monday = clock() + timedelta(days=2)
    _, second = plan_at_old_address(site, monday.isoformat())

    assert read(site, "moon").json["facts"] == {"address": "old-moon"}
    clock.time = monday - timedelta(milliseconds=1)
    assert read(site, "moon").code == "page_moved"
    clock.time = monday
    assert read(site, "moon").json["id"] == second
    assert read(site, "old-moon").status == 200

    # From then on it is the second page's, also when that has another.
    readdress(site, second, 1, "new-moon")
    run_due(runtime)
    assert read(site, "moon").json["facts"] == {"address": "new-moon"}
    assert all("former" not in each for each in ADDRESSES.of(runtime.database).find())


@pytest.mark.parametrize("end", ["unpublished", "deleted", "at another address"])
def test_an_old_address_is_its_pages_again_when_the_other_page_is_called_off(
    site: Client, runtime: Runtime, clock: Clock, end: str
) -> None:
    later = (clock() + timedelta(days=2)).isoformat()
    first, second = plan_at_old_address(site, later)

    if end == "unpublished":
        publisher(site).post(f"{node(second)}/unpublish")
    if end == "deleted":
        publisher(site).delete(node(second))
    if end == "at another address":
        save(editor(site), second, 1, slug="new-moon")
        assert publish(site, second, 2, at=later).status == 200

    for _ in range(2):
        assert read(site, "moon").json["facts"] == {"address": "old-moon"}
        clock.advance(days=3)
        run_due(runtime)
    readdress(site, first, 2, "moon")
    assert read(site, "moon").json["id"] == first


def test_an_old_address_waits_for_the_instant_that_was_planned_last(
    site: Client, clock: Clock
) -> None:
    monday, tuesday = (clock() + timedelta(days=days) for days in (2, 3))
    _, second = plan_at_old_address(site, monday.isoformat())
    assert publish(site, second, at=tuesday.isoformat()).status == 200

    clock.time = tuesday - timedelta(milliseconds=1)
    assert read(site, "moon").code == "page_moved"
    clock.time = tuesday
    assert read(site, "moon").json["id"] == second


def test_the_address_of_a_page_that_was_taken_back_is_kept_for_it(site: Client) -> None:
    node_id = published(site, "moon")
    publisher(site).post(f"{node(node_id)}/unpublish")

    assert publish(site, write(editor(site), "moon")).code == "address_taken"
    assert publish(site, node_id).status == 200


def test_of_two_publishers_of_one_address_one_wins(site: Client, runtime: Runtime) -> None:
    ids = [write(editor(site), "moon") for _ in range(6)]
    answers: list[tuple[int, str]] = []

    def work(node_id: str) -> None:
        answers.append((publish(site, node_id).status, node_id))

    threads = [threading.Thread(target=work, args=(node_id,)) for node_id in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert sorted(status for status, _ in answers) == [200, 409, 409, 409, 409, 409]
    winner = next(node_id for status, node_id in answers if status == 200)
    assert read(site, "moon").json["id"] == winner
    stored = list(ADDRESSES.of(runtime.database).find())
    assert [each["node"] for each in stored] == [winner]
    live = runtime.database["content.node"].count_documents({"live": {"$ne": None}})
    assert live == 1


@pytest.mark.parametrize("address", ["..", "a//b", "A", "a%00", "a/", ""])
def test_what_is_no_address_is_refused(site: Client, address: str) -> None:
    assert read(site, address).code == "invalid_request"
