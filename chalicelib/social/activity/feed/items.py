"""Items: places of actions in readers' feeds.

An item refers to an action and never copies it. Its relevancy only rises, so that a late or
repeated message changes nothing.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import TypedDict

from pymongo import ASCENDING, DESCENDING, IndexModel, UpdateMany
from pymongo.database import Database

from chalicelib.database import Collection, Document, insert_missing
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.feed import scoring
from chalicelib.social.activity.feed.scoring import Scored, ScoredAction, Standing, Standings
from chalicelib.social.paging import IdRange

# Covers a page of a feed.
FEED_ORDER = [
    ("user_id", ASCENDING),
    ("hidden", ASCENDING),
    ("relevancy", DESCENDING),
    ("action_id", DESCENDING),
    ("risen", ASCENDING),
]
# Finds items that came or rose since a time, apart from rises by the reader's own events.
BY_RISE = [
    ("user_id", ASCENDING),
    ("hidden", ASCENDING),
    ("risen", ASCENDING),
    ("own", ASCENDING),
]
# Finds the readers of an action. For an update, the server may choose another index after a trial
# on few items, and then read whole feeds: such updates name this index.
BY_ACTION = [("action_id", ASCENDING), ("user_id", ASCENDING)]


class FeedItem(TypedDict):
    """An action's place in a reader's feed; it names no other person.

    - `risen`: the time when the item came or last rose
    - `own`: whether the reader's own event caused this last rise
    - `hidden_version`: the action's `hidden_version` that `hidden` reflects
    - `refilled`: the reader's `version` at the last refill that found the item due; 0: none
    """

    _id: str
    user_id: str
    action_id: str
    relevancy: datetime
    risen: datetime
    own: bool
    hidden: bool
    hidden_version: int
    refilled: int


ITEMS = Collection(
    "feed.item",
    FeedItem,
    indexes=(
        IndexModel(FEED_ORDER),
        IndexModel(BY_RISE),
        IndexModel(BY_ACTION),
    ),
    shard_key={"user_id": 1},
)
# The projection of an action to the fields that its items depend on.
ACTION_FIELDS = {
    **scoring.FIELDS,
    "hidden": 1,
    "hidden_version": 1,
    "deleted": 1,
    "event_count": 1,
}


class DeliveredAction(ScoredAction):
    """An action as `ACTION_FIELDS` reads it."""

    hidden: bool
    hidden_version: int
    deleted: bool
    event_count: int


class Hidden(TypedDict):
    """The fields of an action that decide the hiding of its items."""

    _id: str
    hidden: bool
    hidden_version: int


def item_id(user_id: str, action_id: str) -> str:
    """Return the id of an item; it makes a second delivery a duplicate."""
    return f"{user_id}:{action_id}"


def subscribers(database: Database[Document], action_id: str, ids: IdRange) -> list[str]:
    """Return the ids of the readers with an action in their feed, in order."""
    where = {"action_id": action_id, "user_id": ids.bounds}
    rows = ITEMS.of(database).find(where, {"_id": 0, "user_id": 1}).sort(BY_ACTION)
    return [row["user_id"] for row in rows.limit(ids.limit or 0)]


def deliver(
    runtime: Runtime, found: Sequence[DeliveredAction], reader_ids: Sequence[str], refilled: int = 0
) -> None:
    """Insert an item for each reader and action; `found` has the fields `ACTION_FIELDS`.

    An existing item stays, but rises if its relevancy is behind. After the write, `deliver` reads
    the actions once more: a change meanwhile may have missed these items, or the items of a worker
    that died. The caller checks for deleted actions. `refilled`: the reader's version, for a
    refill; 0: none.
    """
    scored = scoring.of_actions(runtime, found, reader_ids)
    by_id = {action["_id"]: action for action in found}
    if refilled:
        _note_refill(runtime.database, list(by_id), reader_ids, refilled)
    insert_missing(
        ITEMS.of(runtime.database),
        [
            _item(by_id[action_id], reader_id, standing, runtime.now(), refilled)
            for (reader_id, action_id), standing in scored.standings.items()
        ],
    )
    _catch_up(runtime, scored, reader_ids)


def _catch_up(runtime: Runtime, scored: Scored, reader_ids: Sequence[str]) -> None:
    """Bring readers' items up to the present state of their actions.

    Scores an action again only if it has events that `scored` lacks. Its items rise in either
    case: another worker may have written them, from fewer events.
    """
    changed = {"$or": [{"hidden_version": {"$gt": 0}}, {"event_count": {"$gt": 0}}]}
    where = {"_id": {"$in": list(scored.event_counts)}, "deleted": False, **changed}
    found = list(actions.ACTIONS.of(runtime.database).find(where, ACTION_FIELDS))
    happened_to = {action["_id"] for action in found if action["event_count"]}
    for action in found:
        if action["hidden_version"]:
            show_or_hide(runtime.database, action, reader_ids)
    behind = [each for each in found if each["event_count"] != scored.event_counts[each["_id"]]]
    standings = {
        (reader_id, action_id): standing
        for (reader_id, action_id), standing in scored.standings.items()
        if action_id in happened_to
    }
    if behind:
        standings |= scoring.of_actions(runtime, behind, reader_ids).standings
    lift(runtime, standings)


def _note_refill(
    database: Database[Document],
    action_ids: Sequence[str],
    reader_ids: Sequence[str],
    refilled: int,
) -> None:
    ITEMS.of(database).update_many(
        {
            "_id": {
                "$in": [item_id(reader, action) for reader in reader_ids for action in action_ids]
            },
            "user_id": {"$in": list(reader_ids)},
            "refilled": {"$lt": refilled},
        },
        {"$set": {"refilled": refilled}},
    )


def _item(
    action: DeliveredAction, reader_id: str, standing: Standing, now: datetime, refilled: int
) -> FeedItem:
    return {
        "_id": item_id(reader_id, action["_id"]),
        "user_id": reader_id,
        "action_id": action["_id"],
        "relevancy": standing.relevancy,
        "risen": now,
        "own": standing.own,
        "hidden": action["hidden"],
        "hidden_version": action["hidden_version"],
        "refilled": refilled,
    }


def lift(runtime: Runtime, standings: Standings) -> None:
    """Raise items to their standings, in one round trip; never lower an item."""
    alike: dict[tuple[str, Standing], list[str]] = defaultdict(list)
    for (reader_id, action_id), standing in standings.items():
        alike[action_id, standing].append(reader_id)
    now = runtime.now()
    rises = [
        UpdateMany(
            {
                "action_id": action_id,
                "user_id": {"$in": reader_ids},
                "relevancy": {"$lt": standing.relevancy},
            },
            {"$set": {**standing._asdict(), "risen": now}},
            hint=BY_ACTION,
        )
        for (action_id, standing), reader_ids in alike.items()
    ]
    if rises:
        ITEMS.of(runtime.database).bulk_write(rises, ordered=False)


def show_or_hide(
    database: Database[Document], action: Hidden, reader_ids: Sequence[str] | None = None
) -> None:
    """Copy `hidden` from an action to its items; `reader_ids`: only to these readers' items.

    An item that reflects a later change of the action stays.
    """
    whose = {} if reader_ids is None else {"user_id": {"$in": list(reader_ids)}}
    older = {"hidden_version": {"$lt": action["hidden_version"]}}
    state = {"hidden": action["hidden"], "hidden_version": action["hidden_version"]}
    ITEMS.of(database).update_many(
        {"action_id": action["_id"], **whose, **older}, {"$set": state}, hint=BY_ACTION
    )


def remove(database: Database[Document], action_id: str, kept_for: str | None = None) -> None:
    """Remove an action from every feed, but not from the feed of `kept_for`."""
    whose = {} if kept_for is None else {"user_id": {"$ne": kept_for}}
    ITEMS.of(database).delete_many({"action_id": action_id, **whose})
