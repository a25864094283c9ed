"""Notifications of an author: another person published their page, at its instant and once."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from pymongo import monitoring

from chalicelib.content import jobs
from chalicelib.content.nodes import NODES
from chalicelib.content.publishing import notifications, tending
from chalicelib.identity import Principal
from chalicelib.notifications import events
from chalicelib.notifications.rows import ITEMS, NotificationItem
from chalicelib.people import jobs as people_jobs
from chalicelib.people.jobs import EraseLate
from chalicelib.runtime import Runtime
from chalicelib.webhooks import due
from chalicelib.webhooks.rows import DueEvent
from chalicelib.wiring.people import PEOPLE
from tests.content.support.factories import (
    BASE,
    SITE,
    editor,
    node,
    publish,
    published,
    publisher,
    republish,
    save,
    set_up,
    write,
)
from tests.shop.support.knife import Cut, Edge, cut
from tests.shop.support.threads import in_threads
from tests.support.clock import Clock
from tests.support.commands import Commands, listening
from tests.support.http_client import Client


@dataclass(frozen=True)
class Press:
    """A site that notifies its authors."""

    client: Client
    runtime: Runtime
    clock: Clock

    def told(self, who: str = "edda") -> list[dict[str, Any]]:
        """Let the schedule run; return a person's notifications, the oldest first."""
        self.tend()
        found = self.client.as_(who).get("/notifications").json["notifications"]
        return sorted(found, key=lambda each: str(each["at"]))

    def tend(self) -> None:
        self.clock.advance(seconds=6)
        jobs.run_due(self.runtime)

    def deliver(self) -> None:
        due.deliver(self.runtime, NODES, notifications.notify, key=("site", "_id"))

    def items(self) -> list[NotificationItem]:
        return list(ITEMS.of(self.runtime.database).find())

    def after(self, **later: int) -> str:
        return (self.clock() + timedelta(**later)).isoformat()


@pytest.fixture
def press(client: Client, runtime: Runtime, clock: Clock) -> Press:
    set_up(client, notifications=True)
    return Press(client, runtime, clock)


def test_an_author_hears_of_each_text_that_another_publishes(press: Press) -> None:
    page = published(press.client, summary="All of it.")
    (first,) = press.told()
    press.clock.advance(minutes=1)
    republish(press.client, page, 1, "It is new.")

    told = press.told()

    assert [each["kind"] for each in told] == ["page.published"] * 2
    assert (first["by"], first["count"], first["excerpt"]) == (None, 0, "All of it.")
    assert first["page"] == {"id": page, "title": "Moon", "url": f"{BASE}/moon"}
    assert first["permalink"] == f"{BASE}/moon"
    assert press.told("paula") == []


def test_a_publisher_who_wrote_the_page_hears_nothing(press: Press) -> None:
    paula = publisher(press.client)
    page = write(paula)
    assert publish(press.client, page).status == 200
    assert press.told("paula") == []
    press.clock.advance(minutes=1)

    # Another publisher has a new text of it.
    other = press.client.as_("petra", roles=["publisher"], sites=[SITE])
    assert save(editor(press.client), page, 1, detail={"text": "New."}).status == 200
    assert other.post(f"{node(page)}/publish", version=2).status == 200

    assert len(press.told("paula")) == 1
    assert press.told("petra") == press.told() == []


def test_a_page_to_come_is_told_at_its_instant(press: Press) -> None:
    page = published(press.client, at=press.after(hours=1))
    assert press.told() == []
    press.clock.advance(hours=1)

    assert [each["page"]["id"] for each in press.told()] == [page]


def test_an_own_page_to_come_stays_untold_when_the_clock_changes_it(press: Press) -> None:
    paula = publisher(press.client)
    page = write(paula)
    assert publish(press.client, page).status == 200
    press.tend()
    assert save(paula, page, 1, detail={"text": "Later."}).status == 200
    soon = press.after(hours=1)
    assert publish(press.client, page, 2, at=soon).status == 200
    rows = NODES.of(press.runtime.database)
    row = rows.find_one({"_id": page})
    assert row is not None
    # The schedule stores the page anew before that instant.
    tending._tidy_one(press.runtime, row, lambda found, _now: _unchanged(found))
    press.clock.advance(hours=1)

    assert press.told("paula") == []


def _unchanged(found: Any) -> Any:
    names = ("live", "next", "published", "first_published", "until", "is_closed", "dated")
    return {name: found[name] for name in names if name in found}


def test_a_site_that_does_not_notify_tells_nobody(press: Press) -> None:
    set_up(press.client)
    published(press.client)

    assert press.told() == []
    assert press.items() == []


def test_a_page_that_is_hidden_shows_no_notification(press: Press) -> None:
    page = published(press.client)
    assert len(press.told()) == 1
    press.clock.advance(minutes=1)
    assert publisher(press.client).post(f"{node(page)}/unpublish").status == 200
    assert press.told() == []
    assert press.client.as_("edda").get("/notifications").json["unread"] == 0

    assert publish(press.client, page).status == 200
    press.tend()
    press.clock.advance(minutes=1)
    assert publisher(press.client).delete(node(page)).status == 204

    assert press.told() == []


def test_a_notification_is_shown_to_its_author_alone(press: Press) -> None:
    published(press.client)
    press.tend()

    for who, role in (("bob", "editor"), ("paula", "publisher"), ("admin", "admin")):
        reader = Principal(id=who, name="", roles=frozenset({role}), sites=frozenset({SITE}))
        assert notifications.show(press.runtime, reader, press.items()) == {}


class Answers(Commands):
    """Remembers the server's answers."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None:
        self.texts.append(str(event.reply))


def test_notifications_read_no_texts_of_pages(press: Press) -> None:
    long = {"text": "It is quite long."}
    published(press.client, detail=long, summary="It is short.")
    press.clock.advance(seconds=6)
    edda, answers = Principal(id="edda", name=""), Answers()

    with listening(press.runtime, answers) as listened:
        due.deliver(listened, NODES, notifications.notify, key=("site", "_id"))
        (shown,) = notifications.show(listened, edda, press.items()).values()

    assert shown.text == "It is short."
    assert any("It is short." in each for each in answers.texts)
    assert not any("quite long" in each for each in answers.texts)


def test_an_author_who_is_erased_before_the_instant_leaves_nothing(press: Press) -> None:
    published(press.client, at=press.after(hours=1))
    people_jobs.erase(press.runtime, PEOPLE, "edda")
    press.clock.advance(hours=1)
    press.tend()

    assert press.items() == []


def test_an_author_who_is_erased_between_read_and_write_leaves_no_item(
    press: Press, monkeypatch: pytest.MonkeyPatch
) -> None:
    published(press.client)
    agree, ends = events.agree, []

    def erased_first(*given: Any) -> None:
        press.clock.advance(seconds=1)
        people_jobs.erase(press.runtime, PEOPLE, "edda")
        ends.append(press.runtime.now())
        press.clock.advance(seconds=1)
        agree(*given)

    monkeypatch.setattr(events, "agree", erased_first)
    press.tend()
    assert [each["user_id"] for each in press.items()] == ["edda"]

    people_jobs.run(press.runtime, PEOPLE, EraseLate(user_id="edda", until=ends[0]))

    assert press.items() == []


@pytest.mark.parametrize("edge", ["before", "after"])
def test_a_schedule_that_dies_at_any_write_tells_each_page_once(
    press: Press, monkeypatch: pytest.MonkeyPatch, edge: Edge
) -> None:
    pages: list[str] = []
    for at in range(9):
        pages.append(published(press.client, f"moon-{at}"))
        press.clock.advance(seconds=6)
        with suppress(Cut), cut(monkeypatch, at, edge) as knife:
            press.deliver()
        press.deliver()
        if knife.writes <= at:
            break
    else:
        pytest.fail("the schedule never ended")

    assert sorted(each["thing"] for each in press.items()) == sorted(pages)


def test_schedules_at_once_tell_each_page_once(press: Press) -> None:
    pages = [published(press.client, f"moon-{number}") for number in range(3)]
    press.clock.advance(seconds=6)

    in_threads(lambda _: press.deliver(), 8)

    assert sorted(each["thing"] for each in press.items()) == sorted(pages)


def test_people_are_told_before_the_events_go(press: Press) -> None:
    page = published(press.client)
    press.clock.advance(seconds=6)

    def fail(_runtime: Runtime, told: Sequence[DueEvent]) -> None:
        assert [each["data"]["id"] for each in told] == [page]
        raise Cut

    with pytest.raises(Cut):
        due.deliver(press.runtime, NODES, fail, key=("site", "_id"))

    found = NODES.of(press.runtime.database).find_one({"_id": page})
    assert found is not None
    assert len(found.get("due_events", [])) == 1
