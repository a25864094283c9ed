"""A moderator hears once that their batch is done, however often its worker ends."""

from typing import Any

import pytest

from chalicelib.comments.batches import notifications, running, starting
from chalicelib.comments.batches.forms import BatchStart
from chalicelib.comments.log.rows import BATCHES, Batch
from chalicelib.comments.sites import settings
from chalicelib.comments.sites.forms import CommentSettings
from chalicelib.identity import Principal
from chalicelib.notifications import events
from chalicelib.notifications.rows import ITEMS, NotificationItem
from chalicelib.people import jobs
from chalicelib.people.jobs import EraseLate
from chalicelib.runtime import Runtime
from chalicelib.wiring.people import PEOPLE
from tests.comments.support.crash_points import crash_everywhere
from tests.comments.support.discussion import LAYOUTS, Discussion
from tests.support.clock import Clock
from tests.support.http_client import Client

MO = Principal("mo", "Mo", frozenset({"moderator"}))


@pytest.fixture
def discussion(runtime: Runtime) -> Discussion:
    settings.put(runtime, "default", CommentSettings(notifications=True))
    made = Discussion.make(runtime, LAYOUTS[0])
    for text in ("one", "two"):
        made.post(text, by="ann")
    return made


def begin(runtime: Runtime, state: str = "hidden") -> Batch:
    wanted = BatchStart.model_validate({"site": "default", "state": state, "person": "ann"})
    return starting.begin(runtime, wanted, MO)


def items(runtime: Runtime) -> list[NotificationItem]:
    return list(ITEMS.of(runtime.database).find({"kind": "batch.done"}))


@pytest.mark.usefixtures("discussion")
def test_a_moderator_hears_how_much_of_a_batch_is_done(runtime: Runtime, client: Client) -> None:
    batch = begin(runtime)
    assert items(runtime) == []
    for _ in range(2):
        running.run(runtime, batch["_id"])

    (shown,) = client.as_("mo").get("/notifications").json["notifications"]
    assert (shown["kind"], shown["by"], shown["excerpt"]) == ("batch.done", None, "2/2")
    assert shown["page"]["id"] == batch["_id"]


@pytest.mark.usefixtures("discussion")
def test_a_batch_is_shown_to_its_moderator_alone(runtime: Runtime) -> None:
    batch = begin(runtime)
    running.run(runtime, batch["_id"])

    for who, role in (("ann", "editor"), ("mia", "moderator"), ("admin", "admin")):
        reader = Principal(who, "", frozenset({role}))
        assert notifications.show(runtime, reader, items(runtime)) == {}
    BATCHES.of(runtime.database).delete_one({"_id": batch["_id"]})
    assert notifications.show(runtime, MO, items(runtime)) == {}


def test_a_site_without_notifications_tells_nobody(
    runtime: Runtime, discussion: Discussion
) -> None:
    assert discussion
    settings.put(runtime, "default", CommentSettings())
    running.run(runtime, begin(runtime)["_id"])

    assert items(runtime) == []


@pytest.mark.usefixtures("discussion")
def test_a_worker_may_end_anywhere(runtime: Runtime, mongodb_uri: str, clock: Clock) -> None:
    states = ["hidden", "visible"]
    batch = begin(runtime, states[0])

    def call(ending: Runtime) -> None:
        running.run(ending, batch["_id"])

    for number, _ in enumerate(crash_everywhere(runtime, mongodb_uri, call), start=1):
        clock.advance(milliseconds=runtime.settings.lease_ms + 1)
        running.run(runtime, batch["_id"])
        assert len(items(runtime)) == number
        states.reverse()
        batch = begin(runtime, states[0])


@pytest.mark.usefixtures("discussion")
def test_a_moderator_who_is_erased_while_it_ends_leaves_no_item(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = begin(runtime)
    agree, ends = events.agree, []

    def erased_first(*given: Any) -> None:
        clock.advance(seconds=1)
        jobs.erase(runtime, PEOPLE, "mo")
        ends.append(runtime.now())
        clock.advance(seconds=1)
        agree(*given)

    monkeypatch.setattr(events, "agree", erased_first)
    running.run(runtime, batch["_id"])
    assert len(items(runtime)) == 1

    jobs.run(runtime, PEOPLE, EraseLate(user_id="mo", until=ends[0]))

    assert items(runtime) == []


@pytest.mark.usefixtures("discussion")
def test_a_moderator_who_was_erased_before_hears_nothing(runtime: Runtime) -> None:
    batch = begin(runtime)
    taken = BATCHES.of(runtime.database).find_one({"_id": batch["_id"]})
    assert taken is not None
    jobs.erase(runtime, PEOPLE, "mo")

    # The worker read the batch before the erasure.
    notifications.tell_done(runtime, taken)

    assert items(runtime) == []
