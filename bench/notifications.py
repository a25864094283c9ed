"""Cost of an inbox: its first page with its numbers, and the items of an event.

The floor of a page is the same reads: the items, the two numbers up to 100, and the comments with
their nodes. The floor of an event is one `insert_many` of its items, between the reads of the
people's choices and of who gets letters.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import Any

from bench.calls import AppCalls
from bench.case import Case, Work
from bench.discussions import seed_node
from bench.stage import Stage
from chalicelib.comments import nodes
from chalicelib.comments.stores.documents import COMMENTS
from chalicelib.notifications import events
from chalicelib.notifications.events import NotificationEvent
from chalicelib.notifications.groups import MOST_COUNTED
from chalicelib.notifications.mailing import MAILINGS
from chalicelib.notifications.rows import (
    INBOXES,
    ITEMS,
    KEPT,
    UNREAD,
    WANTED,
    Kind,
    NotificationItem,
)
from chalicelib.runtime import Runtime

LIMIT = 20
SIZES = (100, 1_000, 100_000)
NODE, NODE_COMMENTS = "told:page", 1_000
READER = "ann"
AT_MOST, GROWTH_AT_MOST = 2.0, 1.1
RECIPIENTS = (1, 10, 500)
EVENT_AT_MOST = 1.43
_AT_ONCE = 10_000


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield the first page of inboxes of three sizes, nothing of them read, and then events."""
    yield list(_pages(stage))
    runtime = stage.with_database("told-events").runtime
    yield [_event(runtime, recipients) for recipients in stage.sizes(*RECIPIENTS)]


def _pages(stage: Stage) -> Iterator[Case]:
    for size in stage.sizes(*SIZES):
        runtime = stage.with_database(f"told-{size}").runtime
        seed_node(runtime, NODE, NODE_COMMENTS, store="documents", threaded=True)
        _fill(runtime, size)
        calls = AppCalls(runtime, READER)
        yield Case(
            "inbox: first page",
            partial(calls, "GET", "/notifications", {}, {"limit": str(LIMIT)}),
            _floor(runtime),
            store="items",
            size=size,
            unit="notifications",
            ratio_at_most=AT_MOST,
            growth_at_most=GROWTH_AT_MOST,
        )


def _fill(runtime: Runtime, size: int) -> None:
    """Tell the reader of comments, each a second after the one before."""
    now = runtime.now()
    found: Any = COMMENTS.of(runtime.database).find({"node_id": NODE}, {"id": 1})
    ids = [each["id"] for each in found]
    for first in range(0, size, _AT_ONCE):
        rows: list[NotificationItem] = []
        for number in range(first, min(first + _AT_ONCE, size)):
            at = now - timedelta(seconds=size - number)
            key = f"{number:07}"
            rows.append(_item(READER, key, f"{NODE}/{ids[number % len(ids)]}", at))
        ITEMS.of(runtime.database).insert_many(rows)


def _item(user_id: str, key: str, thing: str, at: datetime) -> NotificationItem:
    return {
        "_id": f"{user_id}:{key}",
        "user_id": user_id,
        "key": key,
        "kind": "comment.reply",
        "site": "told",
        "thing": thing,
        "by": "ben",
        "at": at,
        "risen": at,
        "wanted": True,
        "read": False,
        "expires": at + KEPT,
    }


def _event(runtime: Runtime, recipients: int) -> Case:
    people, keys = [f"reader{number}" for number in range(recipients)], count()
    concerned: dict[str, Kind] = dict.fromkeys(people, "comment.reply")
    database, thing = runtime.database, f"{NODE}/one"

    def notify() -> None:
        key = f"{recipients}/{next(keys)}"
        event = NotificationEvent(key, "told", thing, "ben", runtime.now(), concerned, is_new=True)
        events.agree(runtime, event, runtime.now())

    def insert() -> None:
        key, at = f"floor/{recipients}/{next(keys)}", runtime.now()
        named = {"_id": {"$in": people}}
        list(INBOXES.of(database).find(named))
        rows = [_item(who, key, thing, at) for who in people]
        ITEMS.of(database).insert_many(rows, ordered=False)
        list(MAILINGS.of(database).find({**named, "every": {"$ne": "off"}, "is_confirmed": True}))

    return Case(
        "event: items",
        notify,
        insert,
        floor_is="the same reads and one `insert_many`",
        store="items",
        size=recipients,
        unit="recipients",
        door="function",
        items=recipients,
        ratio_at_most=EVENT_AT_MOST,
    )


def _floor(runtime: Runtime) -> Work:
    items, comments = ITEMS.of(runtime.database), COMMENTS.of(runtime.database)

    def read() -> None:
        own = {"user_id": READER}
        found = items.find({**own, **WANTED}).sort([("risen", -1), ("_id", -1)]).limit(LIMIT + 1)
        ids = [each["thing"].rpartition("/")[2] for each in list(found)[:LIMIT]]
        list(nodes.NODES.of(runtime.database).find({"_id": {"$in": [NODE]}}))
        list(comments.find({"node_id": NODE, "generation": 0, "id": {"$in": ids}}))
        INBOXES.of(runtime.database).find_one({"_id": READER})
        items.count_documents({**own, **UNREAD}, limit=MOST_COUNTED)
        items.count_documents({**own, **WANTED}, limit=MOST_COUNTED)

    return read
