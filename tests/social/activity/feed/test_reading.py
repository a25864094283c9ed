"""A feed, page by page, while it changes."""

import random
from datetime import timedelta
from typing import Any

import pytest
from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.http import responses
from chalicelib.social.activity.feed import items
from chalicelib.social.activity.feed import reading as feeds
from chalicelib.social.activity.feed.scoring import Standing
from tests.social.activity.support.bulk import action, item, plant
from tests.social.activity.support.office import APPLIED, MARY, Office
from tests.social.activity.support.reading import actions, feed, page, unread
from tests.support.clock import START
from tests.support.http_client import Client


def test_a_feed_shows_actions_with_their_relevancy(office: Office) -> None:
    done = office.act("ann", refs=[MARY])
    office.workers.drain()
    assert page(office.client, "bob") == {
        "actions": [
            {
                "id": done,
                "actor": {"id": "ann", "name": "Ann"},
                "conducted_at": "2026-03-01T12:00:00Z",
                "scope": "team",
                "refs": [MARY],
                "descriptor": APPLIED,
                "is_hidden": False,
                "comment_count": 0,
                "reaction_count": 0,
                "reactions": {},
                "relevant_at": "2026-03-01T11:50:00Z",
            }
        ],
        "next": None,
        "newer": 0,
    }


def test_a_feed_is_for_callers_and_may_be_empty(client: Client) -> None:
    assert client.get("/feed").code == "unauthenticated"
    assert page(client, "nobody") == {"actions": [], "next": None, "newer": 0}


def test_a_page_too_large_for_an_answer_ends_early(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = [office.act("ann", refs=[MARY]) for _ in range(5)]
    office.workers.drain()
    monkeypatch.setattr(responses, "MAX_BYTES", 1_000)

    assert 1 <= len(page(office.client, "bob")["actions"]) < 5
    assert sorted(actions(office.client, "bob")) == sorted(done)


def test_what_concerns_the_reader_ranks_above_what_is_newer(office: Office) -> None:
    office.place("bob", manager="cy", team="hiring", department="people")
    by_manager = office.act("cy", "department")
    office.clock.advance(minutes=5)
    by_colleague = office.act("ann", "department")
    office.workers.drain()
    assert actions(office.client, "bob") == [by_manager, by_colleague]
    assert actions(office.client, "ann") == [by_colleague, by_manager]


@pytest.mark.parametrize("limit", [1, 2, 3, 200])
def test_pages_of_any_size_show_all_once_in_order(office: Office, limit: int) -> None:
    planted = plant(office.runtime, "bob", 7, START - timedelta(days=1))
    assert [each for each, _ in feed(office.client, "bob", limit)] == planted


def test_actions_of_one_relevancy_are_parted_by_their_ids(office: Office) -> None:
    ids = [f"action{number}" for number in range(9)]
    rows = office.runtime.database
    rows["feed.item"].insert_many([item("bob", each, START) for each in ids])
    rows["feed.action"].insert_many([action(office.runtime, each, START) for each in ids])
    assert [each for each, _ in feed(office.client, "bob", 2)] == ids[::-1]


def test_what_is_not_the_readers_any_more_is_gone_at_once(office: Office) -> None:
    kept, hidden, deleted = (office.act("ann", "department") for _ in range(3))
    of_team = office.act("ann")
    office.workers.drain()
    assert set(actions(office.client, "bob")) == {kept, hidden, deleted, of_team}
    office.hide("ann", hidden)
    office.delete("ann", deleted)
    office.place("bob", team="payroll", department="people")
    assert actions(office.client, "bob") == [kept]
    assert set(actions(office.client, "ann")) == {kept, of_team}


def test_what_is_left_out_is_made_up_for_by_what_follows(office: Office) -> None:
    planted = plant(office.runtime, "bob", 20, START - timedelta(days=1))
    gone = {"_id": {"$in": planted[: feeds.SPARE]}}
    office.runtime.database["feed.action"].update_many(gone, {"$set": {"hidden": True}})
    shown = [each["id"] for each in page(office.client, "bob", 10)["actions"]]
    assert shown == planted[feeds.SPARE :][:10]


def test_a_page_that_was_thinned_further_is_short_and_goes_on(office: Office) -> None:
    planted = plant(office.runtime, "bob", 40, START - timedelta(days=1))
    gone = {"_id": {"$in": planted[:30]}}
    office.runtime.database["feed.action"].update_many(gone, {"$set": {"hidden": True}})
    first = page(office.client, "bob", 10)
    assert first["actions"] == []
    assert first["next"]
    assert [each for each, _ in feed(office.client, "bob", 10)] == planted[30:]


def test_what_rises_while_one_scrolls_is_counted_and_not_shown_twice(office: Office) -> None:
    planted = plant(office.runtime, "bob", 6, START - timedelta(days=1))
    first = page(office.client, "bob", 2)
    office.clock.advance(minutes=1)
    office.comment("ann", planted[1])
    office.comment("ann", planted[4])
    office.workers.drain()
    second = page(office.client, "bob", 200, first["next"])
    assert [each["id"] for each in second["actions"]] == [planted[2], planted[3], planted[5]]
    assert second["newer"] == 2
    assert actions(office.client, "bob")[:2] == sorted([planted[1], planted[4]], reverse=True)


def test_what_is_rising_while_the_first_page_is_read_is_counted(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its item says since when it stands at the top, and does not stand there yet."""
    planted = plant(office.runtime, "bob", 6, START - timedelta(days=1))
    pages: list[Any] = []
    of = Collection.of

    def read_before_the_write(rows: Collection[Any], database: Database[Document]) -> Any:
        monkeypatch.setattr(Collection, "of", of)
        office.clock.advance(milliseconds=20)
        pages.append(page(office.client, "bob", 2))
        return of(rows, database)

    monkeypatch.setattr(Collection, "of", read_before_the_write)
    risen = Standing(START - timedelta(minutes=10), own=False)
    items.lift(office.runtime, {("bob", planted[4]): risen})
    rest = page(office.client, "bob", 200, pages[0]["next"])
    shown = [each["id"] for read in (*pages, rest) for each in read["actions"]]
    assert shown == [each for each in planted if each != planted[4]]
    assert rest["newer"] == 1


def test_what_rises_to_below_where_one_is_waits_as_well(office: Office) -> None:
    """A penalty sets new things back, but they are new all the same."""
    planted = plant(office.runtime, "bob", 6, START - timedelta(minutes=6))
    office.act("ann")
    first = page(office.client, "bob", 2)
    office.clock.advance(seconds=1)
    office.workers.drain()
    assert actions(office.client, "bob").index(planted[1]) == 1
    rest = page(office.client, "bob", 200, first["next"])
    assert [each["id"] for each in rest["actions"]] == planted[2:]
    assert rest["newer"] == 1


def test_a_reader_scrolls_through_a_thousand_while_comments_re_rank_them(
    office: Office,
) -> None:
    planted = plant(office.runtime, "bob", 1_000, START - timedelta(days=1))
    rng = random.Random(11)
    shown: list[str] = []
    risen: set[str] = set()
    cursor = None
    while True:
        read = page(office.client, "bob", 50, cursor)
        shown += [each["id"] for each in read["actions"]]
        assert read["newer"] == len(risen)
        cursor = read["next"]
        if cursor is None:
            break
        office.clock.advance(seconds=10)
        for commented in rng.sample(planted, 4):
            office.comment("ann", commented)
            risen.add(commented)
        office.workers.drain()
    assert len(shown) == len(set(shown))
    assert set(planted) - risen <= set(shown)
    assert [each for each in planted if each in set(shown)] == shown
    assert set(actions(office.client, "bob")[: len(risen)]) == risen


def test_a_cursor_belongs_to_its_reader(office: Office) -> None:
    plant(office.runtime, "bob", 9, START - timedelta(days=1))
    cursor = page(office.client, "bob", 1)["next"]
    assert office.client.as_("ann").get(f"/feed?cursor={cursor}").code == "invalid_cursor"
    assert office.client.as_("bob").get(f"/feed?cursor={cursor}A").code == "invalid_cursor"


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "user_id=ann", "cursor=!"])
def test_hostile_queries_are_refused(client: Client, query: str) -> None:
    assert client.as_("bob").get(f"/feed?{query}").status in {400, 422}


def test_unread_counts_what_came_or_rose_since_the_last_look(office: Office) -> None:
    first = office.act("ann")
    office.clock.advance(seconds=1)
    office.act("ann")
    office.workers.drain()
    assert unread(office.client, "bob") == 2
    assert office.client.as_("bob").put("/feed/seen").status == 204
    assert unread(office.client, "bob") == 0
    office.clock.advance(days=2)
    office.comment("ann", first)
    office.workers.drain()
    assert unread(office.client, "bob") == 1


def test_a_comment_that_does_not_concern_the_reader_makes_nothing_unread(office: Office) -> None:
    action_id = office.tell("ann", "restricted", audience=["bob", "dan"])
    office.workers.drain()
    for reader in ("bob", "dan"):
        assert office.client.as_(reader).put("/feed/seen").status == 204
    office.clock.advance(seconds=1)
    office.comment("ann", action_id)
    office.workers.drain()
    assert unread(office.client, "bob") == 1
    assert unread(office.client, "dan") == 0


def test_what_one_does_oneself_is_not_unread(office: Office) -> None:
    mine, hers = office.act("bob"), office.act("ann")
    office.workers.drain()
    assert unread(office.client, "bob") == 1
    assert office.client.as_("bob").put("/feed/seen").status == 204
    office.clock.advance(days=1)
    office.comment("bob", mine)
    office.comment("bob", hers)
    office.workers.drain()
    assert unread(office.client, "bob") == 0
    assert unread(office.client, "ann") == 2


def test_what_is_hidden_is_not_unread(office: Office) -> None:
    action_id = office.act("ann")
    office.workers.drain()
    office.hide("ann", action_id)
    office.workers.drain()
    assert unread(office.client, "bob") == 0


def test_unread_is_counted_to_a_hundred(office: Office) -> None:
    plant(office.runtime, "bob", 120, START)
    assert unread(office.client, "bob") == 100


def test_a_look_is_never_taken_back(office: Office) -> None:
    plant(office.runtime, "bob", 3, START)
    office.clock.advance(hours=1)
    office.client.as_("bob").put("/feed/seen")
    office.clock.advance(hours=-1)
    office.client.as_("bob").put("/feed/seen")
    assert unread(office.client, "bob") == 0


def test_to_look_moves_nobody(office: Office) -> None:
    action_id = office.act("ann")
    office.workers.drain()
    office.client.as_("bob").put("/feed/seen")
    office.client.as_("eve").put("/feed/seen")
    assert office.workers.drain() == 0
    assert actions(office.client, "bob") == [action_id]
    assert office.client.as_("eve").get("/users/me/org").json["team"] is None
