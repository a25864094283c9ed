"""Groups of items, each shown as one notification; a group has one kind, thing and UTC day.

An item has the id of its group. Each read forms the groups, and no row stores one: the order of
events does not matter. The newest item of a group decides its place in the inbox.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypedDict

from pymongo.collection import Collection as MongoCollection

from chalicelib.database import Document
from chalicelib.http.paging import Position
from chalicelib.notifications.rows import ITEMS, Kind, NotificationItem
from chalicelib.runtime import Runtime

# A count stops here; badges and groups show "99+" then.
MOST_COUNTED = 100
# The most people of a group that an inbox names.
MOST_NAMED = 3
# The most items that a page reads to make groups: a group of thousands costs no more.
MOST_SCANNED = 1_000
NEWEST = [("risen", -1), ("_id", -1)]
_ORDER = dict(NEWEST)
# An item without a group is a group of its own.
_GROUP = {"$ifNull": ["$group", "$_id"]}


class GroupActor(NamedTuple):
    """A person who caused an event."""

    id: str
    name: str


class GroupsPage(NamedTuple):
    """Groups, each with its newest items, and the position for the next page; None: the end."""

    groups: list[list[NotificationItem]]
    following: Position | None


class _Row(TypedDict):
    """A group as the aggregation returns it, from the scanned items.

    - `head`: its newest scanned item.
    - `last`: its oldest scanned item, with `risen` and `_id` alone.
    - `scanned`: the number of its scanned items.
    """

    head: NotificationItem
    last: NotificationItem
    scanned: int


def group_of(kind: Kind, thing: str, at: datetime) -> str:
    """Return the `group` of an event's items: `{kind}/{thing}/{UTC day}`."""
    return f"{kind}/{thing}/{at.astimezone(UTC).date().isoformat()}"


def read(
    runtime: Runtime, user_id: str, where: Mapping[str, object], limit: int, after: Position | None
) -> GroupsPage:
    """Return a page of groups of a person's items, the newest first, each with up to 100 items.

    A page leaves out groups of earlier pages. It scans up to 1,000 items, and so may have fewer
    groups than `limit` before the end.
    """
    items, own = ITEMS.of(runtime.database), {"user_id": user_id, **where}
    # Most groups are small, and few items make a page.
    for most in (2 * (limit + 1), MOST_SCANNED):
        found: Any = items.aggregate(_stages(own, limit, after, most))
        rows: list[_Row] = list(found)
        is_end = len(rows) <= limit and sum(row["scanned"] for row in rows) < most
        if is_end or len(rows) > limit:
            break
    place: Position | None = None
    if len(rows) > limit:
        place = _place(rows[limit - 1]["head"])
    elif not is_end:
        place = min(_place(row["last"]) for row in rows)
    groups = _newest(items, own, [row["head"] for row in rows[:limit]])
    shown = [each for each in groups if after is None or _place(each[0]) < after]
    return GroupsPage(shown, place)


def _stages(own: Document, limit: int, after: Position | None, most: int) -> list[Document]:
    older: Document = {}
    if after is not None:
        risen, last = after
        older = {"$or": [{"risen": {"$lt": risen}}, {"risen": risen, "_id": {"$lt": last}}]}
    return [
        {"$match": {**own, **older}},
        {"$sort": _ORDER},
        {"$limit": most},
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
    ]


def _newest(
    items: MongoCollection[NotificationItem], own: Document, heads: Sequence[NotificationItem]
) -> list[list[NotificationItem]]:
    """Return the newest items of each head's group, in the order of the heads."""
    grouped = [head["_id"] for head in heads if "group" in head]
    newest: dict[str, list[NotificationItem]] = {}
    if grouped:
        rows: Any = items.aggregate(_stages_of_newest(own, grouped))
        newest = {row["_id"]: row["newest"] for row in rows}
    # Another call may have marked all items of a group as read meanwhile.
    return [newest.get(head["_id"]) or [head] for head in heads]


def _stages_of_newest(own: Document, ids: Sequence[str]) -> list[Document]:
    of_group = {**own, "$expr": {"$eq": ["$group", "$$group"]}}
    return [
        {"$match": {"user_id": own["user_id"], "_id": {"$in": list(ids)}}},
        {
            "$lookup": {
                "from": ITEMS.name,
                "let": {"group": "$group"},
                "pipeline": [{"$match": of_group}, {"$sort": _ORDER}, {"$limit": MOST_COUNTED}],
                "as": "newest",
            }
        },
        {"$project": {"newest": 1}},
    ]


def _place(item: NotificationItem) -> Position:
    return item["risen"], item["_id"]


def count(runtime: Runtime, user_id: str, where: Mapping[str, object]) -> int:
    """Return the number of groups among the newest thousand items, up to 100."""
    # A hundred items without groups are a hundred groups: the first read is enough.
    for most in (MOST_COUNTED, MOST_SCANNED):
        stages: list[Document] = [
            {"$match": {"user_id": user_id, **where}},
            {"$sort": {"risen": -1}},
            {"$limit": most},
            {"$group": {"_id": _GROUP, "items": {"$sum": 1}}},
            {"$group": {"_id": None, "groups": {"$sum": 1}, "items": {"$sum": "$items"}}},
        ]
        found: list[Any] = list(ITEMS.of(runtime.database).aggregate(stages))
        groups = min(found[0]["groups"], MOST_COUNTED) if found else 0
        if groups == MOST_COUNTED or not found or found[0]["items"] < most:
            break
    return groups
