"""The refill of a feed after a change of its reader's place in the organisation, or of mutes."""

from collections.abc import Iterator, Sequence

from pymongo import ASCENDING
from pymongo.database import Database

from chalicelib import deadlines
from chalicelib.database import Document
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.actions.shapes import VisibleAction
from chalicelib.social.activity.actions.visibility import may_see
from chalicelib.social.activity.feed import items
from chalicelib.social.activity.feed.items import DeliveredAction
from chalicelib.social.activity.org import people
from chalicelib.social.activity.org.people import StoredPerson
from chalicelib.social.activity.org.places import Org
from chalicelib.social.messages import Refill

# The fields that decide whether an action is due; `take_undue` adds the reader in the audience.
_DECIDING = ("actor.id", "scope", "team", "department", "hidden", "deleted")


def refill(runtime: Runtime, user_id: str, after: str = "") -> None:
    """Add the missing actions to a reader's feed, and remove actions that are not due.

    After half of the remaining time, the refill sends a message to continue the removal. `after`:
    only continue the removal, behind this action id.

    The ties at the time of an event decide its rank. Two refills, for two changes, may overlap:
    neither removes an action that the refill of a later change has found due.
    """
    has_time = deadlines.share(0.5)
    if not after:
        _add_due(runtime, user_id)
    at_once = runtime.bounds.social.refill_checked_at_once
    for action_ids in _action_ids(runtime.database, user_id, after, at_once):
        take_undue(runtime.database, user_id, action_ids)
        if not has_time():
            rest = Refill(user_id=user_id, after=action_ids[-1])
            outbox.note(runtime, rest)
            runtime.queues.send(rest)
            return


def _add_due(runtime: Runtime, user_id: str) -> None:
    bounds = runtime.bounds.social
    person = people.find(runtime.database, user_id)
    found = find_due(runtime.database, person, bounds.refill_newest)
    for start in range(0, len(found), bounds.refill_added_at_once):
        some = found[start : start + bounds.refill_added_at_once]
        items.deliver(runtime, some, [user_id], person["version"])


def find_due(
    database: Database[Document], person: StoredPerson, newest: int
) -> list[DeliveredAction]:
    """Return the actions due in a reader's feed: for each reason, up to `newest`, newest first.

    The reasons: the reader is the actor, in the audience, in the team, or in the department.
    """
    user_id = person["_id"]
    reasons: list[Document] = [{"actor.id": user_id}, {"audience": user_id}]
    units = {"team": person["team"], "department": person["department"]}
    reasons += [{"scope": unit, unit: name} for unit, name in units.items() if name is not None]
    unmuted = {"deleted": False, "actor.id": {"$nin": person["muted"]}}
    found = (
        actions.ACTIONS.of(database)
        .find({"$and": [reason, unmuted]}, items.ACTION_FIELDS)
        .sort(actions.NEWEST_FIRST)
        .limit(newest)
        for reason in reasons
    )
    return list({action["_id"]: action for rows in found for action in rows}.values())


def _action_ids(
    database: Database[Document], user_id: str, after: str, at_once: int
) -> Iterator[list[str]]:
    """Yield the action ids in a reader's feed after the id `after`, up to `at_once` at a time."""
    # An item's `_id` has the user's id and the action's, with a colon that no user id has.
    begin, end = items.item_id(user_id, after), f"{user_id};"
    while True:
        where = {"user_id": user_id, "_id": {"$gt": begin, "$lt": end}}
        rows = items.ITEMS.of(database).find(where, {"action_id": 1}).sort("_id", ASCENDING)
        found = list(rows.limit(at_once))
        if not found:
            return
        yield [item["action_id"] for item in found]
        begin = found[-1]["_id"]


def take_undue(database: Database[Document], user_id: str, action_ids: Sequence[str]) -> None:
    """Remove the actions that are not due today from a reader's feed.

    An item stays if a later refill found it due, except for an erased reader.
    """
    # Read after the items, so that no item comes from a newer state of the person.
    person = people.find(database, user_id)
    own_part = {"audience": {"$elemMatch": {"$eq": user_id}}}
    there = {"_id": {"$in": list(action_ids)}, "deleted": False}
    rows = actions.ACTIONS.of(database).find(there, {**dict.fromkeys(_DECIDING, 1), **own_part})
    due = {row["_id"] for row in rows if _is_due(row, person)}
    items.ITEMS.of(database).delete_many(
        {
            "_id": {
                "$in": [items.item_id(user_id, each) for each in action_ids if each not in due]
            },
            "user_id": user_id,
            **({"refilled": {"$lte": person["version"]}} if person["version"] else {}),
        }
    )


def _is_due(action: VisibleAction, person: StoredPerson) -> bool:
    """Return whether an action belongs to a reader's feed, even while it is hidden."""
    if action["actor"]["id"] in person["muted"]:
        return False
    # Blocks do not count: after the end of a block, nothing would add the items again.
    return may_see({**action, "hidden": False}, person["_id"], Org.of(person), frozenset())
