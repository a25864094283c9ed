"""Erasing a user from the activity feed: their actions, places and name."""

from typing import Any

from pymongo.client_session import ClientSession
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.runtime import Runtime
from chalicelib.social import outbox
from chalicelib.social.activity.actions import actions, events, types
from chalicelib.social.activity.actions.events import StoredActionEvent
from chalicelib.social.activity.actions.types import USER
from chalicelib.social.activity.feed import cascade, items
from chalicelib.social.activity.org import people

# What replaces an erased user in the actions of others: an id that no user can have.
_NOBODY_ID, _NOBODY_NAME = ":erased", "Somebody"
_NOBODYS = {
    "actor": {"id": _NOBODY_ID, "name": _NOBODY_NAME},
    "team": None,
    "department": None,
}


def erase(runtime: Runtime, user_id: str) -> None:
    """Erase a user; every step may be repeated. The ranks of others' items stay as they are."""
    database = runtime.database
    _forget_place(database, user_id)
    for action in actions.ACTIONS.of(database).find({"actor.id": user_id}, {"_id": 1}):
        actions.bury(runtime, action["_id"])
        cascade.cascade(runtime, action["_id"])
        # The tombstone stays, without a name, for a delivery that may be under way.
        actions.ACTIONS.of(database).update_one({"_id": action["_id"]}, {"$set": _NOBODYS})
    for event in events.EVENTS.of(database).find({"by.id": user_id}):
        _forget_event(database, event)
    _forget_mentions(database, user_id)
    items.ITEMS.of(database).delete_many({"user_id": user_id})


def traces(
    database: Database[Document], user_id: str
) -> list[tuple[MongoCollection[Any], Document]]:
    """Return the collections and filters of documents that are a user's or name the user."""
    persons, places = people.PEOPLE.of(database), people.PLACES.of(database)
    told = actions.ACTIONS.of(database)
    return [
        (told, {"actor.id": user_id}),
        (told, {"mentions": user_id, "$or": [*_as_user(user_id), _not_as_thing(user_id)]}),
        (told, {"audience": user_id}),
        (events.EVENTS.of(database), {"by.id": user_id}),
        (items.ITEMS.of(database), {"user_id": user_id}),
        (persons, {"_id": user_id}),
        (places, {"user_id": user_id}),
        (persons, {"muted": user_id}),
        *((rows, {"manager": user_id}) for rows in (persons, places)),
        *((rows, {"assigned": user_id}) for rows in (persons, places)),
    ]


def _forget_place(database: Database[Document], user_id: str) -> None:
    persons, places = people.PEOPLE.of(database), people.PLACES.of(database)
    persons.delete_one({"_id": user_id})
    places.delete_many({"user_id": user_id})
    persons.update_many({"muted": user_id}, {"$pull": {"muted": user_id}})
    for rows in (persons, places):
        rows.update_many({"manager": user_id}, {"$set": {"manager": None}})
        rows.update_many({"assigned": user_id}, {"$pull": {"assigned": user_id}})


def _forget_event(database: Database[Document], event: StoredActionEvent) -> None:
    """Delete an event, count one less, and delete its re-ranking jobs, all or nothing.

    The id of such a job has the event's id, which for a reaction has the user's.
    """
    rankings = outbox.rankings_of(event["action_id"], event["_id"])
    key = {"_id": event["_id"], "action_id": event["action_id"]}
    one_less = {"$inc": {f"{event['type']}_count": -1}}

    def work(session: ClientSession) -> None:
        if events.EVENTS.of(database).delete_one(key, session=session).deleted_count:
            of = {"_id": event["action_id"]}
            actions.ACTIONS.of(database).update_one(of, one_less, session=session)
            outbox.JOBS.of(database).delete_many(rankings, session=session)

    in_transaction(database, work)


def _forget_mentions(database: Database[Document], user_id: str) -> None:
    """Remove a user from what others did; only texts may still have the name.

    Things of the application may have the same id, and stay.
    """
    rows = actions.ACTIONS.of(database)
    rows.update_many({"audience": user_id}, {"$pull": {"audience": user_id}})
    mentioned = {"mentions": user_id}
    for id_field, name_field in types.named_users().items():
        nobody = {f"descriptor.{id_field}": _NOBODY_ID, f"descriptor.{name_field}": _NOBODY_NAME}
        rows.update_many({**mentioned, f"descriptor.{id_field}": user_id}, {"$set": nobody})
    rows.update_many(mentioned, {"$pull": {"refs": {"id": user_id, "type": USER}}})
    # The mention last: this is found by it again if it is cut short.
    rows.update_many({**mentioned, **_not_as_thing(user_id)}, {"$pull": mentioned})


def _as_user(user_id: str) -> list[Document]:
    """Return the filters of the actions that name a user."""
    ref: Document = {"refs": {"$elemMatch": {"id": user_id, "type": USER}}}
    return [ref, *({f"descriptor.{field}": user_id} for field in types.named_users())]


def _not_as_thing(id_: str) -> Document:
    """Return the filter of the actions in which an id names no thing of the application."""
    ref: Document = {"refs": {"$elemMatch": {"id": id_, "type": {"$ne": USER}}}}
    return {"$nor": [ref, *({f"descriptor.{field}": id_} for field in types.named_things())]}
