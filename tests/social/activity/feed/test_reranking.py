"""Events of an action raise it for the readers they concern, and for nobody else."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.actions.forms import NewAction
from chalicelib.social.activity.actions.shapes import ReadAction
from chalicelib.social.activity.feed import items, reranking
from chalicelib.social.jobs import handle
from chalicelib.social.messages import Rerank
from tests.social.activity.support.office import APPLIED, MARY, Office

EVERYBODY = ["dora", "ali", "rex", "otto"]
HOUR = timedelta(hours=1)


def applications(office: Office, number: int) -> list[str]:
    """Have Una, who is close to nobody, tell everybody of some applicants, an hour apart."""
    runtime, courier = office.with_courier()
    una = Principal("una", "Una", frozenset({"application"}))
    body = {"scope": "restricted", "audience": EVERYBODY, "descriptor": APPLIED}
    new = NewAction.model_validate(body)
    found = []
    for _ in range(number):
        found.append(actions.conduct(runtime, una, new)["_id"])
        courier.deliver(runtime, random.Random(7))
        office.clock.advance(hours=1)
    return found


def test_mary_fannings_application_rises_for_readers_that_the_comment_concerns(
    office: Office,
) -> None:
    """An activity is three weeks old, and ranked like 300th, when somebody comments on it."""
    office.place("sue", "dora", department="engineering")
    office.place("ali", assigned=["mary"])
    office.place("rex", manager="sue")
    office.settle("otto")
    office.workers.drain()
    audience = [*EVERYBODY, "sue"]
    mary = office.tell("eve", "restricted", audience=audience, refs=[MARY])
    office.workers.drain()
    office.clock.advance(days=1)
    newer = applications(office, 299)
    office.clock.advance(days=21 - 1, hours=-299)
    assert {office.feed(reader).index(mary) for reader in EVERYBODY} == {299}

    office.comment("sue", mary, "Let us talk to her")
    office.workers.drain()

    newest_first = newer[::-1]
    assert office.feed("dora") == [mary, *newest_first]
    assert office.feed("ali") == [mary, *newest_first]
    assert office.feed("rex") == [mary, *newest_first]
    assert office.feed("otto") == [*newest_first, mary]


@pytest.mark.parametrize(
    ("reader", "place", "penalty"),
    [
        ("sue", {}, timedelta()),
        ("mary", {}, timedelta()),
        ("ali", {"assigned": ["mary"]}, timedelta(minutes=1)),
        ("rex", {"manager": "sue"}, timedelta(minutes=1)),
        ("max", {}, timedelta(minutes=1)),
        ("tom", {"team": "backend", "department": "engineering"}, timedelta(minutes=10)),
        ("dora", {"department": "engineering"}, HOUR),
    ],
)
@pytest.mark.parametrize("happens", ["comment", "react"])
def test_the_nearer_the_reader_the_higher_it_comes(
    office: Office, reader: str, place: dict[str, Any], penalty: timedelta, happens: str
) -> None:
    office.place("sue", team="backend", department="engineering", manager="max")
    office.place(reader, **place) if place else None
    office.settle(reader)
    audience = ["sue", *{reader} - {"sue"}]
    action = office.tell("eve", "restricted", audience=audience, refs=[MARY])
    office.workers.drain()
    office.clock.advance(days=3)

    getattr(office, happens)("sue", action)
    office.workers.drain()

    assert office.relevancy(reader, action) == office.clock() - penalty


def test_what_does_not_concern_a_reader_changes_nothing_for_them(office: Office) -> None:
    office.settle("otto", "sue")
    action = office.tell("eve", "restricted", audience=["otto", "sue"])
    office.workers.drain()
    before = office.relevancy("otto", action)
    office.clock.advance(days=3)

    office.comment("sue", action)
    office.workers.drain()

    assert before == office.clock() - timedelta(days=3 + 1)
    assert office.relevancy("otto", action) == before


def test_another_kind_of_reaction_is_no_event(office: Office) -> None:
    action = office.act("ann")
    office.workers.drain()
    office.react("bob", action)
    office.workers.drain()
    first = office.clock()

    office.clock.advance(hours=1)
    office.react("bob", action, "celebrate")
    office.workers.drain()

    assert office.relevancy("bob", action) == first


def test_an_event_has_the_ties_of_its_time(office: Office) -> None:
    action = office.act("ann", "department")
    office.workers.drain()
    office.clock.advance(days=1)
    office.comment("cy", action)
    commented = office.clock()

    # The worker comes late: by now the two are of one team.
    office.clock.advance(hours=1)
    office.place("bob", team="payroll", department="people")
    office.workers.drain()

    assert office.relevancy("bob", action) == commented - HOUR


def three_events(office: Office) -> tuple[str, list[Rerank]]:
    action = office.act("ann", "department")
    office.workers.drain()
    for who in ("cy", "bob", "ann"):
        office.clock.advance(minutes=7)
        office.comment(who, action)
    office.forget_messages()
    events = office.runtime.database["feed.event"].find({"action_id": action})
    return action, [Rerank(action_id=action, event_id=event["_id"]) for event in events]


@pytest.mark.parametrize("seed", range(4))
def test_messages_may_come_late_twice_and_in_any_order(office: Office, seed: int) -> None:
    action, ranks = three_events(office)
    shuffled = ranks * 2
    random.Random(seed).shuffle(shuffled)

    for rank in shuffled:
        reranking.rank(office.runtime, rank.action_id, rank.event_id, "")

    now = office.clock()
    assert office.standing(action, ["ann", "bob", "cy"]) == {
        "ann": now,
        "bob": now - timedelta(minutes=7),
        "cy": now - timedelta(minutes=14),
    }


def test_a_ranking_whose_message_is_lost_is_found_by_the_sweep(office: Office) -> None:
    action, _ = three_events(office)

    office.sweep_expired()

    assert office.relevancy("ann", action) == office.clock() - timedelta(
        milliseconds=office.runtime.settings.lease_ms
    )
    assert office.runtime.database["social.errand"].count_documents({}) == 0


class Died(Exception):
    """A worker's process is gone."""


@pytest.mark.bounds(social={"rerank_subscribers": 1})
def test_a_ranking_that_is_cut_short_is_done_again(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    action, ranks = three_events(office)
    lifted: list[Any] = []
    lift = items.lift

    def die_at_the_second(runtime: Any, standings: Any) -> None:
        if lifted:
            raise Died
        lifted.append(standings)
        lift(runtime, standings)

    with monkeypatch.context() as patch:
        patch.setattr(items, "lift", die_at_the_second)
        for rank in ranks:
            with pytest.raises(Died):
                handle(office.runtime, rank)
    office.sweep_expired()

    came = {reader: office.relevancy(reader, action) for reader in ("ann", "bob", "cy")}
    start = office.clock() - timedelta(milliseconds=office.runtime.settings.lease_ms)
    assert came["ann"] == start
    assert came["cy"] == start - timedelta(minutes=14)


@pytest.mark.bounds(social={"rerank_subscribers": 2, "rerank_chunks": 2})
def test_a_large_audience_is_ranked_by_several_messages(office: Office) -> None:
    members = [f"member-{number:02}" for number in range(11)]
    office.place(*members, team="large")
    office.workers.drain()
    action = office.act("member-00")
    office.workers.drain()
    office.clock.advance(hours=1)
    office.comment("member-01", action)
    runtime, courier = office.with_courier()

    handle(runtime, office.rank_of(action))

    (rest,) = courier.take()
    assert rest.after == "member-03"
    courier.send(rest)
    courier.deliver(runtime, random.Random(7), twice=True)
    expected = office.clock() - timedelta(minutes=10)
    others = {member: expected for member in members if member != "member-01"}
    assert office.standing(action, list(others)) == others


def test_many_who_comment_at_once_are_all_counted(office: Office) -> None:
    action = office.act("ann")
    barrier = threading.Barrier(8)

    def comment(number: int) -> None:
        barrier.wait()
        office.comment("bob", action, str(number))
        office.react(("ann", "bob")[number % 2], action)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(comment, range(8)))

    stored: Document = office.stored(action)
    counted = {name: stored[f"{name}_count"] for name in ("comment", "reaction", "event")}
    assert counted == {"comment": 8, "reaction": 2, "event": 10}
    events = office.runtime.database["feed.event"]
    assert events.count_documents({"action_id": action}) == 10


@pytest.mark.parametrize("happens", ["comment", "reaction"])
def test_what_is_said_to_an_action_that_has_just_been_deleted_is_refused(
    office: Office, monkeypatch: pytest.MonkeyPatch, happens: str
) -> None:
    action = office.act("ann")
    find_visible = actions.find_visible

    def find_before_it_is_deleted(*args: Any) -> ReadAction:
        found = find_visible(*args)
        monkeypatch.setattr(actions, "find_visible", find_visible)
        office.delete("ann", action)
        office.deliver_jobs()
        return found

    monkeypatch.setattr(actions, "find_visible", find_before_it_is_deleted)
    bob = office.client.as_("bob")
    reply = (
        bob.post(f"/actions/{action}/comments", text="Still there?")
        if happens == "comment"
        else bob.put(f"/actions/{action}/reaction", kind="like")
    )

    assert reply.code == "unknown_action"
    assert office.runtime.database["feed.event"].count_documents({}) == 0


def test_what_is_said_while_the_action_is_deleted_leaves_nothing(office: Office) -> None:
    action = office.act("ann")
    office.workers.drain()
    barrier = threading.Barrier(5)

    def comment(number: int) -> int:
        barrier.wait()
        if number == 0:
            return office.client.as_("ann").delete(f"/actions/{action}").status
        reply = office.client.as_("bob").post(f"/actions/{action}/comments", text="Still there?")
        return reply.status

    with ThreadPoolExecutor(5) as pool:
        statuses = list(pool.map(comment, range(5)))
    office.workers.drain()

    assert statuses[0] == 204
    assert set(statuses[1:]) <= {201, 404}
    assert office.items() == []
    assert office.runtime.database["feed.event"].count_documents({}) == 0
