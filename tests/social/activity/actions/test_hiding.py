"""An action that is hidden, shown again or deleted is so in every feed."""

from typing import Any

import pytest

from chalicelib.social.activity.feed import items
from tests.social.activity.support.office import Office

TEAM = ["ann", "bob"]
DEPARTMENT = [*TEAM, "cy"]


def test_hiding_and_deleting_reach_every_item(office: Office) -> None:
    action, other = office.act("ann", "department"), office.act("ann")
    office.workers.drain()
    before = office.standing(action, DEPARTMENT)

    office.hide("ann", action)
    office.workers.drain()
    assert office.readers(action) == []

    office.hide("ann", action, hidden=False)
    office.workers.drain()
    assert office.standing(action, DEPARTMENT) == before
    assert office.readers(action) == DEPARTMENT

    office.delete("ann", action)
    office.workers.drain()
    assert {item["action_id"] for item in office.items()} == {other}


def test_a_hidden_action_is_ranked_for_when_it_is_shown_again(office: Office) -> None:
    action = office.act("ann")
    office.workers.drain()
    office.hide("ann", action)
    office.clock.advance(hours=1)
    office.comment("ann", action)
    office.workers.drain()

    office.hide("ann", action, hidden=False)
    office.workers.drain()

    assert office.relevancy("ann", action) == office.clock()


def test_a_late_hiding_does_not_undo_a_later_showing(office: Office) -> None:
    action = office.act("ann")
    office.workers.drain()
    office.hide("ann", action)
    seen_hidden: Any = office.stored(action)
    office.hide("ann", action, hidden=False)
    office.workers.drain()

    items.show_or_hide(office.runtime.database, seen_hidden)

    assert office.readers(action) == TEAM


@pytest.mark.parametrize("change", ["hide", "delete"])
def test_a_change_whose_message_is_lost_is_found_by_the_sweep(office: Office, change: str) -> None:
    action = office.act("ann")
    office.workers.drain()

    getattr(office, change)("ann", action)
    office.forget_messages()
    assert office.readers(action) == TEAM

    office.sweep_expired()
    assert office.readers(action) == []


def test_hiding_twice_changes_nothing(office: Office) -> None:
    action = office.act("ann")
    for _ in range(2):
        office.hide("ann", action)
    assert office.stored(action)["hidden_version"] == 1


def test_deleting_leaves_no_content(office: Office) -> None:
    action = office.tell("ann", "restricted", audience=["dan"])
    office.comment("dan", action)
    office.delete("ann", action)
    office.workers.drain()

    stored = office.stored(action)

    assert stored["deleted"]
    assert not any(stored[name] for name in ("descriptor", "refs", "tags", "mentions", "audience"))
