"""The date that readers see: given by the publisher, or the first instant, and kept."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.content.jobs import run_due
from chalicelib.content.nodes import NODES
from chalicelib.runtime import Runtime
from tests.content.support.factories import (
    SITE,
    editor,
    listed,
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

LONG_AGO = "2019-05-04T08:30:00Z"


def at(clock: Clock, **later: float) -> str:
    return (clock.time + timedelta(**later)).isoformat().replace("+00:00", "Z")


def dates(client: Client, address: str = "moon") -> set[Any]:
    """Return the date of a page wherever readers see it."""
    page = read(client, address)
    assert page.status == 200, page.body
    feed = client.get(f"/content/{SITE}/feed.json").json["items"]
    entries = client.get(f"/content/{SITE}").json["entries"]
    return {
        page.json["published_at"],
        *(each["published_at"] for each in entries if each["address"] == address),
        *(each["date_published"] for each in feed if each["url"].endswith(f"/{address}")),
    }


def unpublish(client: Client, node_id: str) -> None:
    assert publisher(client).post(f"{node(node_id)}/unpublish").status == 200


@pytest.mark.parametrize("given", [{"at": LONG_AGO}, {"dated": LONG_AGO}])
def test_an_archive_moves_in_with_its_dates(site: Client, given: dict[str, Any]) -> None:
    published(site, "today")
    node_id = write(editor(site), "moon")

    made = publish(site, node_id, **given).json

    assert made["state"] == "live"
    assert made["dated_at"] == LONG_AGO
    assert dates(site) == {LONG_AGO}
    # Where its date has it, and as no news.
    assert listed(site) == ["today", "moon"]
    assert read(site, "moon").json["updated_at"] == LONG_AGO
    feed = site.get(f"/content/{SITE}/feed.json").json["items"]
    assert [each["date_modified"] for each in feed][1] == LONG_AGO


def test_pages_of_an_archive_are_neighbours_by_their_dates(site: Client) -> None:
    for year in (2012, 1971, 2003):
        publish(site, write(editor(site), f"y{year}"), dated=f"{year}-01-01T00:00:00Z")

    found = read(site, "y2003", "&include=neighbours").json["neighbours"]

    assert (found["previous"]["address"], found["next"]["address"]) == ("y1971", "y2012")
    assert listed(site) == ["y2012", "y2003", "y1971"]


def test_a_page_that_was_taken_back_returns_by_schedule_with_its_first_date(
    site: Client, clock: Clock, runtime: Runtime
) -> None:
    first = at(clock)
    node_id = published(site)
    clock.advance(days=1)
    published(site, "between")
    clock.advance(days=1)
    unpublish(site, node_id)

    planned = publish(site, node_id, at=at(clock, hours=1)).json
    assert (planned["state"], planned["dated_at"]) == ("scheduled", first)
    assert planned["published_at"] == at(clock, hours=1)
    assert read(site, "moon").status == 404
    clock.advance(hours=1)

    assert dates(site) == {first}
    for _ in range(2):
        run_due(runtime)
        assert dates(site) == {first}
        assert listed(site) == ["between", "moon"]
    unpublish(site, node_id)
    assert publish(site, node_id).json["published_at"] == first


def test_a_page_with_a_date_is_shown_at_its_instant(
    site: Client, clock: Clock, runtime: Runtime
) -> None:
    node_id = write(editor(site))

    planned = publish(site, node_id, at=at(clock, hours=1), dated=LONG_AGO).json

    assert (planned["state"], planned["dated_at"]) == ("scheduled", LONG_AGO)
    run_due(runtime)
    assert read(site, "moon").status == 404
    clock.advance(hours=1)
    assert dates(site) == {LONG_AGO}
    run_due(runtime)
    assert dates(site) == {LONG_AGO}
    stored = NODES.of(runtime.database).find_one({"_id": node_id})
    assert stored is not None
    assert stored.get("dated") is None
    assert (
        stored["published"] == stored["first_published"] == datetime(2019, 5, 4, 8, 30, tzinfo=UTC)
    )


def test_a_planned_page_with_a_date_was_never_public(site: Client, clock: Clock) -> None:
    node_id = write(editor(site))
    publish(site, node_id, at=at(clock, hours=1), dated=LONG_AGO)
    unpublish(site, node_id)

    assert editor(site).delete(node(node_id)).status == 204


@pytest.mark.parametrize("again", [{}, {"at": {"hours": 2}}, {"at": {"hours": 1}}])
def test_a_planned_page_that_is_published_again_keeps_its_date(
    site: Client, clock: Clock, runtime: Runtime, again: dict[str, Any]
) -> None:
    published(site, "today")
    node_id = write(editor(site), "moon")
    publish(site, node_id, at=at(clock, hours=1), dated=LONG_AGO)
    assert save(editor(site), node_id, 1, title="The moon, mended").status == 200

    given = {name: at(clock, **later) for name, later in again.items()}
    publish(site, node_id, version=2, **given)
    clock.advance(hours=3)
    run_due(runtime)

    assert dates(site) == {LONG_AGO}
    entries = site.get(f"/content/{SITE}").json["entries"]
    assert [each["address"] for each in entries] == ["today", "moon"]


def test_a_date_stays_through_editions_until_another_is_given(
    site: Client, clock: Clock, runtime: Runtime
) -> None:
    node_id = write(editor(site))
    publish(site, node_id, dated=LONG_AGO)
    clock.advance(days=1)
    save(editor(site), node_id, 1, title="Again")
    publish(site, node_id, 2)
    assert dates(site) == {LONG_AGO}
    assert read(site, "moon").json["updated_at"] == at(clock)
    # A past instant of a page that readers see is now, as before.
    publish(site, node_id, 2, at="2018-01-01T00:00:00Z")
    assert dates(site) == {LONG_AGO}

    publish(site, node_id, 2, dated="2017-01-01T00:00:00Z", at=at(clock, hours=1))
    assert dates(site) == {"2017-01-01T00:00:00Z"}
    clock.advance(hours=1)
    run_due(runtime)
    assert dates(site) == {"2017-01-01T00:00:00Z"}


def test_a_new_edition_between_the_instant_and_the_schedule_keeps_the_date(
    site: Client, clock: Clock, runtime: Runtime
) -> None:
    node_id = write(editor(site))
    publish(site, node_id, at=at(clock, hours=1), dated=LONG_AGO)
    clock.advance(hours=2)

    save(editor(site), node_id, 1, title="Again")
    publish(site, node_id, 2)
    run_due(runtime)
    assert dates(site) == {LONG_AGO}
    unpublish(site, node_id)
    publish(site, node_id, 2)
    assert dates(site) == {LONG_AGO}


@pytest.mark.parametrize("is_shown", [False, True])
def test_a_date_is_no_later_than_the_page_is_shown(
    site: Client, clock: Clock, *, is_shown: bool
) -> None:
    node_id = published(site) if is_shown else write(editor(site))
    late: dict[str, Any] = {"at": at(clock, hours=2), "dated": at(clock, hours=2, milliseconds=1)}
    refused = [publish(site, node_id, **late), publish(site, node_id, dated=at(clock, seconds=1))]
    if is_shown:
        # It is shown already: the date would be to come.
        refused.append(publish(site, node_id, at=at(clock, hours=2), dated=at(clock, hours=1)))

    for reply in refused:
        assert (reply.status, reply.json["errors"][0]["code"]) == (422, "dated")


@pytest.mark.parametrize(
    "dated",
    ["1970-12-31T23:59:59Z", "9999-12-31T23:59:59-10:00", "0001-01-01T00:00:00Z", "2019-05-04"],
)
def test_a_date_is_an_instant_after_1970(site: Client, dated: str) -> None:
    reply = publish(site, write(editor(site)), dated=dated)

    assert (reply.status, reply.code) == (422, "invalid_request")


def test_a_page_of_a_former_release_keeps_its_dates(
    site: Client, clock: Clock, runtime: Runtime
) -> None:
    first = at(clock)
    node_id = published(site)
    NODES.of(runtime.database).update_one({"_id": node_id}, {"$unset": {"dated": ""}})
    clock.advance(days=1)

    assert dates(site) == {first}
    unpublish(site, node_id)
    publish(site, node_id, at=at(clock, hours=1))
    clock.advance(hours=1)
    run_due(runtime)
    assert dates(site) == {first}
