"""Keeping a feed what its reader's place in the organisation, and mutes, say today."""

from collections.abc import Iterator, Sequence

from pymongo import ASCENDING
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.actions.visibility import may_see
from chalicelib.social.activity.feed import items
from chalicelib.social.activity.org import people
from chalicelib.social.activity.org.places import Org

# So many of the newest actions of each kind come to somebody whom a scope brings in.
NEWEST = 1_000
_BROUGHT_AT_ONCE = 100
_LOOKED_AT_ONCE = 1_000


def refill(runtime: Runtime, user_id: str) -> None:
    """Bring what is missing from somebody's feed, and take out what is not for them.

    What is brought stands where the ties of its time put it. Two of these at once, for two
    changes, may overlap: none takes out what one for a later change has found to be due.
    """
    person = people.find(runtime.database, user_id)
    due = _due(runtime.database, person)
    for start in range(0, len(due), _BROUGHT_AT_ONCE):
        some = due[start : start + _BROUGHT_AT_ONCE]
        items.deliver(runtime, some, [user_id], person["version"])
    for stored in _stored(runtime.database, user_id):
        take_undue(runtime.database, user_id, stored)


def _due(database: Database[Document], person: Document) -> list[Document]:
    """Return the newest actions that belong to somebody's feed."""
    user_id = person["_id"]
    reasons: list[Document] = [{"actor.id": user_id}, {"audience": user_id}]
    units = {unit: person[unit] for unit in ("team", "department") if person[unit] is not None}
    reasons += [{"scope": unit, unit: name} for unit, name in units.items()]
    unmuted = {"deleted": False, "actor.id": {"$nin": person["muted"]}}
    found = (
        actions.collection(database)
        .find({"$and": [reason, unmuted]}, items.ACTION_FIELDS)
        .sort(actions.NEWEST_FIRST)
        .limit(NEWEST)
        for reason in reasons
    )
    return list({action["_id"]: action for rows in found for action in rows}.values())


def _stored(database: Database[Document], user_id: str) -> Iterator[list[str]]:
    """Yield the ids of the actions in somebody's feed, some at a time."""
    # An item's `_id` is made of the user and the action, with a colon that no user id has.
    after, end = f"{user_id}:", f"{user_id};"
    while True:
        where = {"user_id": user_id, "_id": {"$gt": after, "$lt": end}}
        rows = items.collection(database).find(where, {"action_id": 1}).sort("_id", ASCENDING)
        found = list(rows.limit(_LOOKED_AT_ONCE))
        if not found:
            return
        yield [item["action_id"] for item in found]
        after = found[-1]["_id"]


def take_undue(database: Database[Document], user_id: str, action_ids: Sequence[str]) -> None:
    """Take those of some actions out of a feed that are not for its reader today.

    What a refill for a later change has found due stays; of somebody erased, nothing does.
    """
    # The person after the items: whoever brought one of these knew no more than is read now.
    person = people.find(database, user_id)
    rows = actions.collection(database).find({"_id": {"$in": list(action_ids)}, "deleted": False})
    due = {row["_id"] for row in rows if _is_due(row, person)}
    items.collection(database).delete_many(
        {
            "_id": {
                "$in": [items.item_id(user_id, each) for each in action_ids if each not in due]
            },
            "user_id": user_id,
            **({"refilled": {"$lte": person["version"]}} if person["version"] else {}),
        }
    )


def _is_due(action: Document, person: Document) -> bool:
    """Tell whether an action belongs to somebody's feed, also while it is hidden."""
    if action["actor"]["id"] in person["muted"]:
        return False
    # As if there were no blocks, which may end without another word.
    return may_see({**action, "hidden": False}, person["_id"], Org.of(person), frozenset())
