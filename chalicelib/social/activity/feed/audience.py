"""The readers of an action: its actor, and everybody in its scope today."""

from pymongo import ASCENDING
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.actions.shapes import AddressedAction
from chalicelib.social.activity.org import people
from chalicelib.social.paging.id_range import IdRange


def of(database: Database[Document], action: AddressedAction, ids: IdRange) -> list[str]:
    """Return the ids of an action's readers in order, also of those who muted its actor."""
    unit = action["scope"]
    if unit == "restricted":
        return ids.cut({action["actor"]["id"], *action["audience"]})
    where = {unit: action[unit], "_id": ids.bounds}
    rows = people.PEOPLE.of(database).find(where, {"_id": 1}).sort("_id", ASCENDING)
    members = [row["_id"] for row in rows.limit(ids.limit or 0)]
    return ids.cut({action["actor"]["id"], *members})


def still_eligible(
    database: Database[Document], action: AddressedAction, reader_ids: list[str]
) -> list[str]:
    """Return the readers who may still receive the action, sorted by id."""
    unit, actor_id = action["scope"], action["actor"]["id"]
    if unit == "restricted":
        today = actions.ACTIONS.of(database).find_one({"_id": action["_id"]}, {"audience": 1})
        members = set(today["audience"] if today else ())
    else:
        where = {unit: action[unit], "_id": {"$in": reader_ids}}
        members = {row["_id"] for row in people.PEOPLE.of(database).find(where, {"_id": 1})}
    still = [each for each in reader_ids if each in members or each == actor_id]
    return unmuted(database, actor_id, still)


def unmuted(database: Database[Document], actor_id: str, reader_ids: list[str]) -> list[str]:
    """Return the readers who have not muted an actor."""
    where = {"_id": {"$in": reader_ids}, "muted": actor_id}
    muting = {row["_id"] for row in people.PEOPLE.of(database).find(where, {"_id": 1})}
    return [reader_id for reader_id in reader_ids if reader_id not in muting]
