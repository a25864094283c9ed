"""Erasing a user from the activity feed: what they did, where they stood, and their name."""

from pymongo.client_session import ClientSession
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.runtime import Runtime
from chalicelib.social import outbox
from chalicelib.social.activity.actions import actions, events, types
from chalicelib.social.activity.actions.types import USER
from chalicelib.social.activity.feed import cascade, items
from chalicelib.social.activity.org import people

# What stands in the actions of others for somebody who was erased: an id that no user can have.
_NOBODY_ID, _NOBODY_NAME = ":erased", "Somebody"
_NOBODYS = {
    "actor": {"id": _NOBODY_ID, "name": _NOBODY_NAME},
    "team": None,
    "department": None,
}


def erase(runtime: Runtime, user_id: str) -> None:
    """Erase a user; every step may be repeated. Where others' items stand is left as it is."""
    database = runtime.database
    _forget_place(database, user_id)
    for action in actions.collection(database).find({"actor.id": user_id}, {"_id": 1}):
        actions.bury(runtime, action["_id"])
        cascade.cascade(runtime, action["_id"])
        # The tombstone stays without a name, for a delivery that may be under way.
        actions.collection(database).update_one({"_id": action["_id"]}, {"$set": _NOBODYS})
    for event in events.collection(database).find({"by.id": user_id}):
        _forget_event(database, event)
    _forget_mentions(database, user_id)
    items.collection(database).delete_many({"user_id": user_id})


def traces(
    database: Database[Document], user_id: str
) -> list[tuple[MongoCollection[Document], Document]]:
    """Return where documents may be that are a user's or name the user."""
    persons, places = people.collection(database), database[people.PLACES.name]
    told = actions.collection(database)
    return [
        (told, {"actor.id": user_id}),
        (told, {"mentions": user_id, "$or": [*_as_user(user_id), _not_as_thing(user_id)]}),
        (told, {"audience": user_id}),
        (events.collection(database), {"by.id": user_id}),
        (items.collection(database), {"user_id": user_id}),
        (persons, {"_id": user_id}),
        (places, {"user_id": user_id}),
        (persons, {"muted": user_id}),
        *((rows, {"manager": user_id}) for rows in (persons, places)),
        *((rows, {"assigned": user_id}) for rows in (persons, places)),
    ]


def _forget_place(database: Database[Document], user_id: str) -> None:
    persons, places = people.collection(database), database[people.PLACES.name]
    persons.delete_one({"_id": user_id})
    places.delete_many({"user_id": user_id})
    persons.update_many({"muted": user_id}, {"$pull": {"muted": user_id}})
    for rows in (persons, places):
        rows.update_many({"manager": user_id}, {"$set": {"manager": None}})
        rows.update_many({"assigned": user_id}, {"$pull": {"assigned": user_id}})


def _forget_event(database: Database[Document], event: Document) -> None:
    """Delete what happened to an action, count one less, and drop its ranking, all or nothing.

    The note of the ranking has the event's id, and that of a reaction has the user's.
    """
    rankings = outbox.rankings_of(event["action_id"], event["_id"])
    key = {name: event[name] for name in ("_id", "action_id")}
    one_less = {"$inc": {f"{event['type']}_count": -1}}

    def work(session: ClientSession) -> None:
        if events.collection(database).delete_one(key, session=session).deleted_count:
            of = {"_id": event["action_id"]}
            actions.collection(database).update_one(of, one_less, session=session)
            database[outbox.JOBS.name].delete_many(rankings, session=session)

    in_transaction(database, work)


def _forget_mentions(database: Database[Document], user_id: str) -> None:
    """Take a user out of what others did, where the text alone may still say the name.

    What the application keeps may have the same id, and stays.
    """
    rows = actions.collection(database)
    rows.update_many({"audience": user_id}, {"$pull": {"audience": user_id}})
    mentioned = {"mentions": user_id}
    for id_field, name_field in types.named_users().items():
        nobody = {f"descriptor.{id_field}": _NOBODY_ID, f"descriptor.{name_field}": _NOBODY_NAME}
        rows.update_many({**mentioned, f"descriptor.{id_field}": user_id}, {"$set": nobody})
    rows.update_many(mentioned, {"$pull": {"refs": {"id": user_id, "type": USER}}})
    # The mention last: it is what this is found by again, should it be cut short.
    rows.update_many({**mentioned, **_not_as_thing(user_id)}, {"$pull": mentioned})


def _as_user(user_id: str) -> list[Document]:
    """Return the filters of the actions that name a user."""
    ref: Document = {"refs": {"$elemMatch": {"id": user_id, "type": USER}}}
    return [ref, *({f"descriptor.{field}": user_id} for field in types.named_users())]


def _not_as_thing(id_: str) -> Document:
    """Return the filter of the actions that name nothing of the application's by an id."""
    ref: Document = {"refs": {"$elemMatch": {"id": id_, "type": {"$ne": USER}}}}
    return {"$nor": [ref, *({f"descriptor.{field}": id_} for field in types.named_things())]}
