"""An erased user is in nobody's feed, and nowhere else in it."""

from typing import Any

import pytest

from chalicelib.jobs import outbox
from chalicelib.social.activity.actions import types
from chalicelib.social.messages import Rerank
from tests.social.activity.support.office import APPLIED, MARY, Interrupt, Office
from tests.support.people import erase, remaining

RATING = {
    **APPLIED,
    "type": "application_rating",
    "rater_id": "bob",
    "rater_name": "Bob",
    "rating_score": 4.5,
}

BOB = {"id": "bob", "type": "user", "name": "Bob"}


def everything(office: Office) -> str:
    """Return all that is stored, as text, but not what is owed and who else is there."""
    database = office.runtime.database
    names = [name for name in database.list_collection_names() if name.startswith("feed.")]
    return str({name: list(database[name].find()) for name in names})


def test_nothing_is_left_of_an_erased_user(office: Office) -> None:
    mine = office.act("bob", "department")
    others = office.tell("ann", "department", descriptor=RATING)
    sent = office.tell("ann", "restricted", audience=["bob", "dan"], refs=[MARY, BOB])
    for action in (mine, others, sent):
        office.comment("bob", action)
        office.react("bob", action)
        office.comment("ann", action)
    office.place("cy", manager="bob", assigned=["bob", "mary"])
    office.place("cy", team="payroll", department="people")
    office.mute("dan", "bob")
    office.workers.drain()
    assert "'bob'" in everything(office)

    asked = office.client.as_("bob").delete("/users/me")
    office.workers.drain()

    assert asked.json["remaining"] > 10
    assert remaining(office.runtime, "bob") == 0
    assert "bob" not in everything(office).lower()
    left = office.stored(others)
    assert (left["descriptor"]["rater_id"], left["descriptor"]["rater_name"]) == (
        ":erased",
        "Somebody",
    )
    assert (left["comment_count"], left["reaction_count"]) == (1, 0)
    assert [ref["id"] for ref in office.stored(sent)["refs"]] == ["mary"]
    assert office.readers(others) == ["ann", "cy"]


def test_an_action_of_a_type_that_is_registered_no_more_forgets_its_users(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    office.act("bob", "department")
    others = office.tell("ann", "department", descriptor=RATING)
    office.workers.drain()
    monkeypatch.delitem(types.DESCRIPTORS, "application_rating")

    office.client.as_("bob").delete("/users/me")
    office.workers.drain()

    left = office.stored(others)
    assert (left["descriptor"]["rater_id"], left["descriptor"]["rater_name"]) == (
        ":erased",
        "Somebody",
    )
    assert (remaining(office.runtime, "bob"), "bob" in left["mentions"]) == (0, False)


def test_what_has_the_id_of_an_erased_user_stays(office: Office) -> None:
    position = {"id": "bob", "type": "position", "name": "Baker"}
    about = {"position_id": "bob", "position_name": "Baker"}
    office.settle("bob")
    action = office.tell("ann", refs=[position, MARY], descriptor={**RATING, **about})
    office.client.as_("bob").delete("/users/me")
    office.workers.drain()

    assert remaining(office.runtime, "bob") == 0
    left = office.stored(action)
    assert left["refs"] == [position, MARY]
    assert left["descriptor"] == {
        **RATING,
        **about,
        "rater_id": ":erased",
        "rater_name": "Somebody",
    }
    rename = office.client.as_("root", roles=["admin"]).put("/refs/bob", name="Head baker")
    assert rename.status == 204
    office.workers.drain()
    assert office.stored(action)["refs"][0]["name"] == "Head baker"


def test_a_mention_that_was_left_by_an_erasure_cut_short_is_counted(office: Office) -> None:
    action = office.act("ann")
    erase(office.runtime, "bob")
    mention: Any = {"$push": {"mentions": "bob"}}
    office.runtime.database["feed.action"].update_one({"_id": action}, mention)

    assert remaining(office.runtime, "bob") == 1
    erase(office.runtime, "bob")

    assert remaining(office.runtime, "bob") == 0
    assert "bob" not in office.stored(action)["mentions"]


def test_a_user_who_is_called_erased_can_be_erased(office: Office) -> None:
    office.tell("erased", "restricted", audience=["ann"])
    office.tell("ann", descriptor={**RATING, "rater_id": "erased", "rater_name": "Red"})

    erase(office.runtime, "erased")

    assert remaining(office.runtime, "erased") == 0
    assert "'erased'" not in everything(office)


def test_no_ranking_of_an_erased_reaction_is_owed(office: Office) -> None:
    action = office.act("ann")
    office.workers.drain()
    office.react("ann", action)
    office.react("bob", action)
    rank = Rerank(action_id=action, event_id=f"{action}:bob", after="ann")
    outbox.note(office.runtime, rank)

    erase(office.runtime, "bob")

    owed = office.runtime.database["social.errand"].find({"errand.type": "rank"})
    assert [errand["errand"]["event_id"] for errand in owed] == [f"{action}:ann"]


def test_an_action_that_an_erased_user_raised_keeps_its_rank(office: Office) -> None:
    action = office.act("ann")
    office.clock.advance(hours=1)
    office.comment("bob", action)
    office.workers.drain()
    before = office.relevancy("ann", action)

    office.client.as_("bob").delete("/users/me")
    office.workers.drain()

    assert office.relevancy("ann", action) == before


@pytest.mark.parametrize("times", [1, 2])
def test_erasure_that_is_done_again_counts_nothing_twice(office: Office, times: int) -> None:
    action = office.act("ann")
    office.comment("bob", action)
    office.comment("ann", action)

    for _ in range(times):
        erase(office.runtime, "bob")

    assert office.stored(action)["comment_count"] == 1


def test_an_action_that_was_on_its_way_does_not_come_back(
    office: Office, interrupted: Interrupt
) -> None:
    office.act("bob")

    interrupted(lambda: erase(office.runtime, "bob"))
    office.workers.drain()

    assert office.items() == []


def test_an_action_whose_fan_out_waits_is_for_nobody_once_its_actor_is_erased(
    office: Office,
) -> None:
    action = office.act("bob")
    office.forget_messages()

    erase(office.runtime, "bob")
    office.sweep_expired()

    fan_out = office.stored(action)["fan_out"]
    assert (fan_out["state"], [chunk["size"] for chunk in fan_out["chunks"]]) == ("done", [0])
    assert office.items() == []
