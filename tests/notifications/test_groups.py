"""Groups of an inbox are a definition: kind, object and UTC day, whatever came in which order."""

import random
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from itertools import groupby
from typing import Any

import pytest

from chalicelib.http.paging import Position
from chalicelib.identity import Principal
from chalicelib.notifications import events, groups, inbox
from chalicelib.notifications.events import NotificationEvent
from chalicelib.notifications.groups import MOST_COUNTED, group_of
from chalicelib.notifications.inbox import InboxRow, ShownThing, WantedPage
from chalicelib.notifications.rows import ITEMS, UNREAD, WANTED, NotificationItem
from chalicelib.runtime import Runtime
from tests.support.clock import Clock

ANN = Principal(id="ann", name="Ann")


def tell(runtime: Runtime, by: str, post: str = "p1") -> None:
    """Notify Ann of a reaction to a post, or of a reply where no post is named."""
    event = NotificationEvent(
        key=f"post/{post}/{by}" if post else by,
        site="default",
        thing=post,
        by=by,
        at=runtime.now(),
        recipients={"ann": "post.reaction" if post else "comment.reply"},
        is_new=False,
        group=group_of("post.reaction", post, runtime.now()) if post else None,
        among=("ann",),
    )
    events.agree(runtime, event, runtime.now())


def show(
    _runtime: Runtime, _reader: Principal, items: Sequence[NotificationItem]
) -> Mapping[str, ShownThing]:
    """Show each item whose person is no stranger."""
    return {
        each["_id"]: ShownThing(each["by"].title(), "", "", "", "", "")
        for each in items
        if not each["by"].startswith("stranger")
    }


def pages(runtime: Runtime, limit: int = 20, *, is_unread: bool = False) -> list[InboxRow]:
    """Return the whole inbox, page by page."""
    rows: list[InboxRow] = []
    after: Position | None = None
    while True:
        page = inbox.page(runtime, show, ANN, WantedPage(after, limit, is_unread))
        rows += page.rows
        after = page.following
        if after is None:
            return rows


@pytest.mark.parametrize("people", [0, 1, 2, 3, 4, 99, 100, 101])
def test_a_group_counts_its_people_up_to_a_hundred_and_names_the_newest_three(
    runtime: Runtime, clock: Clock, people: int
) -> None:
    for number in range(people):
        clock.advance(milliseconds=1)
        tell(runtime, f"u{number:03}")

    rows = pages(runtime)

    assert [row.people for row in rows] == ([min(people, MOST_COUNTED)] if people else [])
    newest = [f"u{number:03}" for number in reversed(range(people))][:3]
    assert [actor.id for row in rows for actor in row.actors] == newest
    assert inbox.count(runtime, "ann") == (len(rows), len(rows))


@pytest.mark.parametrize("number", [99, 100, 101])
def test_the_numbers_count_groups_up_to_a_hundred(
    runtime: Runtime, clock: Clock, number: int
) -> None:
    for post in range(number):
        clock.advance(milliseconds=1)
        for by in ("bob", "cy"):
            tell(runtime, by, f"p{post}")

    assert inbox.count(runtime, "ann") == (min(number, MOST_COUNTED),) * 2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("limit", [1, 2, 7])
def test_the_pages_are_the_groups_by_their_newest_items(
    runtime: Runtime, clock: Clock, seed: int, limit: int
) -> None:
    drawn = random.Random(seed)
    for number in range(60):
        clock.advance(milliseconds=drawn.choice((0, 1, 5)))
        tell(runtime, f"u{number}", drawn.choice(("", "p1", "p2", "p3")))
    items = list(ITEMS.of(runtime.database).find({}))
    items.sort(key=lambda item: (item["risen"], item["_id"]), reverse=True)
    expected: dict[str, list[str]] = {}
    for item in items:
        expected.setdefault(item.get("group", item["_id"]), []).append(item["by"])

    rows = pages(runtime, limit)

    assert [(row.item["by"], row.people) for row in rows] == [
        (people[0], len(people)) for people in expected.values()
    ]


@pytest.mark.parametrize("seed", range(3))
def test_no_order_of_events_changes_who_is_in_a_group(runtime: Runtime, seed: int) -> None:
    people = [f"u{number}" for number in range(9)] * 3
    random.Random(seed).shuffle(people)
    for by in people:
        tell(runtime, by)

    (row,) = pages(runtime)

    assert row.people == 9


def test_a_day_is_of_utc() -> None:
    east = timezone(timedelta(hours=2))
    instants = [
        datetime(2026, 3, 2, 23, 59, 59, tzinfo=UTC),
        datetime(2026, 3, 3, 1, 59, 59, tzinfo=east),
        datetime(2026, 3, 3, tzinfo=UTC),
    ]

    found = [group_of("follow", "", each) for each in instants]

    assert [len(list(same)) for _, same in groupby(found)] == [2, 1]


def test_people_who_are_hidden_are_not_counted_and_leave_the_numbers(
    runtime: Runtime, clock: Clock
) -> None:
    for by in ("bob", "stranger-1", "cy", "stranger-2"):
        clock.advance(milliseconds=1)
        tell(runtime, by)
    tell(runtime, "stranger-3", "p2")
    assert inbox.count(runtime, "ann").unread == 2

    (row,) = pages(runtime)

    assert (row.item["by"], row.people) == ("cy", 2)
    assert inbox.count(runtime, "ann").unread == 1


def test_a_mark_by_the_newest_leaves_a_later_item_of_the_group_unread(
    runtime: Runtime, clock: Clock
) -> None:
    for by in ("bob", "cy"):
        clock.advance(milliseconds=1)
        tell(runtime, by)
    tell(runtime, "dee", "p2")
    (read,) = (row.item["_id"] for row in pages(runtime) if row.people == 2)
    clock.advance(milliseconds=1)
    tell(runtime, "eve")

    inbox.mark_read(runtime, "ann", [read])

    unread = pages(runtime, is_unread=True)
    assert [(row.item["by"], row.people) for row in unread] == [("eve", 1), ("dee", 1)]
    assert [(row.people, row.is_read) for row in pages(runtime)] == [(3, False), (1, False)]
    assert inbox.count(runtime, "ann").unread == 2


def test_a_group_of_thousands_hides_nothing_behind_it(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page reads so many items at most; the next goes on where it ended."""
    monkeypatch.setattr(groups, "MOST_SCANNED", 10)
    tell(runtime, "first", "")
    for number in range(35):
        clock.advance(milliseconds=1)
        tell(runtime, f"u{number}")

    rows = pages(runtime, limit=2)

    assert [(row.item["by"], row.people) for row in rows] == [("u34", 35), ("first", 1)]


def test_a_large_group_leaves_no_gap_in_its_page(runtime: Runtime, clock: Clock) -> None:
    for thing, number in (("third", 1), ("second", 1), ("first", 30)):
        for each in range(number):
            clock.advance(milliseconds=1)
            tell(runtime, f"{thing}{each}", thing)

    page = inbox.page(runtime, show, ANN, WantedPage(None, 2, is_unread=False))

    assert [row.item["by"] for row in page.rows] == ["first29", "second0"]
    assert page.following is not None


@pytest.mark.parametrize("where", [WANTED, UNREAD])
def test_a_page_reads_no_inbox_but_its_own(
    runtime: Runtime, where: Mapping[str, object], clock: Clock
) -> None:
    for number in range(5):
        tell(runtime, f"u{number}")
        clock.advance(milliseconds=1)
    others: list[Any] = [
        {**row, "_id": f"{n}:x", "user_id": f"{n}"} for n, row in enumerate(_items(runtime))
    ]
    ITEMS.of(runtime.database).insert_many(others)
    own = {"user_id": "ann", **where}
    newest = ITEMS.of(runtime.database).find_one({"user_id": "ann"}, sort=groups.NEWEST)
    assert newest is not None
    for stages in (
        groups._stages(own, 20, None, 42),
        groups._stages_of_newest(own, [newest["_id"]]),
    ):
        pipeline = {"aggregate": ITEMS.name, "pipeline": stages, "cursor": {}}

        plan = runtime.database.command("explain", pipeline, verbosity="executionStats")

        examined = re.findall(r"'totalDocsExamined': (?:Int64\()?(\d+)", str(plan))
        assert max(int(each) for each in examined) == 5
        assert "COLLSCAN" not in str(plan)


def _items(runtime: Runtime) -> list[Any]:
    (item,) = ITEMS.of(runtime.database).find({}).limit(1)
    return [item] * 50
