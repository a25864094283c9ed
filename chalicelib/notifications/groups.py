"""Groups of items, which an inbox shows as one: a kind, its object, and the UTC day of the event.

A group is read and stored nowhere, so that no order of events changes it. Its place among others
is the place of its newest item.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypedDict

from chalicelib.database import Document
from chalicelib.http.paging import Position
from chalicelib.notifications.rows import ITEMS, Kind, NotificationItem
from chalicelib.runtime import Runtime

# A badge says "99+" beyond, and so does a group.
MOST_COUNTED = 100
# The people of a group that an inbox names.
MOST_NAMED = 3
# A page groups so many items at most, so that a group of thousands costs no more.
MOST_SCANNED = 1_000
NEWEST = [("risen", -1), ("_id", -1)]
_ORDER = dict(NEWEST)
# An item without a group is one.
_GROUP = {"$ifNull": ["$group", "$_id"]}


class GroupActor(NamedTuple):
    """A person who caused an event."""

    id: str
    name: str


class GroupsPage(NamedTuple):
    """Groups, each with its newest items, and the place after which there may be more."""

    groups: list[list[NotificationItem]]
    following: Position | None


class _Row(TypedDict):
    """A group as the server returns it: from its items of the page, and its `newest` of all.

    `last` is its oldest item of the page, with `risen` and `_id` alone.
    """

    head: NotificationItem
    last: NotificationItem
    scanned: int
    newest: list[NotificationItem]


def group_of(kind: Kind, thing: str, at: datetime) -> str:
    """Return the group of an event."""
    return f"{kind}/{thing}/{at.astimezone(UTC).date().isoformat()}"


def read(
    runtime: Runtime, user_id: str, where: Mapping[str, object], limit: int, after: Position | None
) -> GroupsPage:
    """Return groups of a person's items, the newest first; of each, up to 100 items.

    A group that is on an earlier page is left out. A page may have fewer groups than `limit`
    before the end.
    """
    own: Document = {"user_id": user_id, **where}
    found: Any = ITEMS.of(runtime.database).aggregate(_stages(own, limit, after))
    rows: list[_Row] = list(found)
    shown = [row for row in rows[:limit] if after is None or _place(_newest(row)[0]) < after]
    place: Position | None = None
    if len(rows) > limit:
        place = _place(rows[limit - 1]["head"])
    elif sum(row["scanned"] for row in rows) == MOST_SCANNED:
        place = min(_place(row["last"]) for row in rows)
    return GroupsPage([_newest(row) for row in shown], place)


def _stages(own: Document, limit: int, after: Position | None) -> list[Document]:
    older: Document = {}
    if after is not None:
        risen, last = after
        older = {"$or": [{"risen": {"$lt": risen}}, {"risen": risen, "_id": {"$lt": last}}]}
    of_group = {**own, "$expr": {"$eq": ["$group", "$$group"]}}
    return [
        {"$match": {**own, **older}},
        {"$sort": _ORDER},
        {"$limit": MOST_SCANNED},
        {
            "$group": {
                "_id": _GROUP,
                "head": {"$first": "$$ROOT"},
                "last": {"$last": {"risen": "$risen", "_id": "$_id"}},
                "scanned": {"$sum": 1},
            }
        },
        {"$sort": {f"head.{name}": way for name, way in NEWEST}},
        {"$limit": limit + 1},
        {
            "$lookup": {
                "from": ITEMS.name,
                # No item has an empty group.
                "let": {"group": {"$ifNull": ["$head.group", ""]}},
                "pipeline": [{"$match": of_group}, {"$sort": _ORDER}, {"$limit": MOST_COUNTED}],
                "as": "newest",
            }
        },
    ]


def _newest(row: _Row) -> list[NotificationItem]:
    return row["newest"] or [row["head"]]


def _place(item: NotificationItem) -> Position:
    return item["risen"], item["_id"]


def count(runtime: Runtime, user_id: str, where: Mapping[str, object]) -> int:
    """Return the number of groups among the newest thousand items, up to 100."""
    stages: list[Document] = [
        {"$match": {"user_id": user_id, **where}},
        {"$sort": {"risen": -1}},
        {"$limit": MOST_SCANNED},
        {"$group": {"_id": _GROUP}},
        {"$limit": MOST_COUNTED},
        {"$count": "groups"},
    ]
    found: list[Any] = list(ITEMS.of(runtime.database).aggregate(stages))
    return found[0]["groups"] if found else 0
