"""Reactions to actions: one a person, of a kind, changed, withdrawn and counted exactly."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any, get_args

import pytest

from chalicelib.identity import Principal
from chalicelib.social.activity import personal_data
from chalicelib.social.activity.actions import actions, reactions
from chalicelib.social.activity.actions.answers import ReactionsAnswer
from chalicelib.social.reactions import ReactionKind
from tests.social.activity.support.office import Office
from tests.social.support.mortal_workers import Died, Mortal, living

KINDS: tuple[Any, ...] = get_args(ReactionKind)


def shown(office: Office, action: str, reader: str = "ann") -> tuple[Any, Any, Any]:
    """Return the counts by kind, their sum, and the reader's own reaction."""
    answer = office.client.as_(reader).get(f"/actions/{action}").json
    return answer["reactions"], answer["reaction_count"], answer["own_reaction"]


def withdraw(office: Office, author: str, action: str) -> None:
    assert office.client.as_(author).delete(f"/actions/{action}/reaction").status == 204


def listed(office: Office, action: str, query: str = "") -> list[tuple[str, str]]:
    page = office.client.as_("ann").get(f"/actions/{action}/reactions{query}")
    assert page.status == 200, page.body
    return [(each["user"]["id"], each["kind"]) for each in page.json["reactions"]]


def assert_exact(office: Office, action: str) -> None:
    """Check that an action's counts are those of the reactions that are stored."""
    given = {"action_id": action, "type": "reaction", "kind": {"$exists": True}}
    stored = Counter(event["kind"] for event in office.runtime.database["feed.event"].find(given))
    found = office.stored(action)
    assert {k: n for k, n in found.get("reactions", {}).items() if n} == dict(stored)
    assert found["reaction_count"] == stored.total()


def test_every_kind_is_answered() -> None:
    assert set(ReactionsAnswer.__annotations__) == set(KINDS)


def test_reactions_are_told_apart_changed_and_withdrawn(office: Office) -> None:
    action = office.act("ann")
    assert shown(office, action) == ({}, 0, None)
    office.react("ann", action, "celebrate")
    office.clock.advance(seconds=1)
    office.react("bob", action, "like")
    assert shown(office, action) == ({"like": 1, "celebrate": 1}, 2, "celebrate")

    office.react("bob", action, "celebrate")
    assert shown(office, action, "bob") == ({"celebrate": 2}, 2, "celebrate")
    assert listed(office, action) == [("ann", "celebrate"), ("bob", "celebrate")]
    assert listed(office, action, "?kind=like") == []
    page = office.client.as_("ann").get(f"/actions/{action}/reactions?limit=1&kind=celebrate").json
    assert listed(office, action, f"?kind=celebrate&cursor={page['next']}") == [
        ("bob", "celebrate")
    ]
    other = office.client.as_("ann").get(f"/actions/{action}/reactions?cursor={page['next']}")
    assert other.code == "invalid_cursor"

    for _ in range(2):
        withdraw(office, "bob", action)
        assert shown(office, action, "bob") == ({"celebrate": 1}, 1, None)
    withdraw(office, "ann", action)
    assert shown(office, action) == ({}, 0, None)
    assert listed(office, action) == []
    assert_exact(office, action)


def test_who_reacts_again_after_withdrawing_does_not_raise_the_action_again(
    office: Office,
) -> None:
    action = office.act("ann")
    office.clock.advance(hours=1)
    office.react("bob", action)
    office.workers.drain()
    before = office.relevancy("ann", action)
    office.clock.advance(hours=1)

    withdraw(office, "bob", action)
    office.react("bob", action)
    office.workers.drain()

    assert office.relevancy("ann", action) == before
    assert office.stored(action)["event_count"] == 1
    assert shown(office, action)[1] == 1


def test_reactions_are_for_those_who_may_see_the_action(office: Office) -> None:
    action = office.act("ann", "restricted", audience=["bob"])
    office.react("bob", action)
    office.settle("stranger")

    stranger = office.client.as_("stranger")
    assert stranger.delete(f"/actions/{action}/reaction").code == "unknown_action"
    assert stranger.get(f"/actions/{action}/reactions").code == "unknown_action"
    office.client.as_("ann").put("/users/me/blocked/bob")
    assert listed(office, action) == []


def test_many_who_react_change_and_withdraw_at_once_are_counted_exactly(office: Office) -> None:
    action, people = office.act("ann"), ["ann", "bob"]

    def live(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(10):
            who = Principal(id=rng.choice(people), name="Who")
            if rng.random() < 0.3:
                reactions.withdraw(office.runtime, action, who)
            else:
                reactions.react(office.runtime, action, who, rng.choice(KINDS))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(live, range(4)))

    assert_exact(office, action)


@pytest.mark.parametrize("kind", ["like", "support", None])
def test_who_dies_at_any_step_leaves_a_reaction_and_its_count_or_neither(
    office: Office, kind: Any
) -> None:
    action, bob = office.act("ann"), Principal(id="bob", name="Bob")
    office.react("ann", action)
    if kind != "like":
        office.react("bob", action)
    steps, is_done = 0, False
    while not is_done:
        try:
            with living(Mortal(steps)):
                if kind:
                    reactions.react(office.runtime, action, bob, kind)
                else:
                    reactions.withdraw(office.runtime, action, bob)
            is_done = True
        except Died:
            steps += 1
        assert_exact(office, action)
    assert steps > 2


def test_a_reaction_to_an_action_that_is_deleted_meanwhile_is_not_stored(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    action = office.act("ann")
    see = actions.find_visible

    def seen_before_its_deletion(*given: Any) -> Any:
        monkeypatch.setattr(actions, "find_visible", see)
        found = see(*given)
        office.delete("ann", action)
        return found

    monkeypatch.setattr(actions, "find_visible", seen_before_its_deletion)
    reply = office.client.as_("bob").put(f"/actions/{action}/reaction", kind="like")

    assert (reply.status, reply.code) == (404, "unknown_action")
    stored = office.runtime.database["feed.event"].count_documents({"action_id": action})
    assert stored == 0


def test_an_erasure_takes_what_is_left_of_a_reaction(office: Office) -> None:
    first, second = office.act("ann"), office.act("ann")
    for action in (first, second):
        office.react("bob", action, "support")
        office.react("ann", action)
    withdraw(office, "bob", second)

    personal_data.erase(office.runtime, "bob")

    assert shown(office, first) == shown(office, second) == ({"like": 1}, 1, "like")
    for action in (first, second):
        assert_exact(office, action)
    events = office.runtime.database["feed.event"]
    assert events.count_documents({"by.id": "bob"}) == 0
