"""A person's data in the activity feed: actions, places and name, renamed and erased."""

from datetime import datetime

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.jobs import outbox
from chalicelib.people.features import Step, Trace, job_entries
from chalicelib.runtime import Runtime
from chalicelib.social.activity import exports, renaming
from chalicelib.social.activity.actions import actions, events, reactions, types
from chalicelib.social.activity.actions.shapes import StoredActionEvent
from chalicelib.social.activity.actions.types import USER
from chalicelib.social.activity.feed import cascade, items
from chalicelib.social.activity.org import people
from chalicelib.social.messages import Refill, Rerank

# Replaces an erased user in tombstones and in others' actions: no user can have this id.
_NOBODY_ID, _NOBODY_NAME = ":erased", "Somebody"
_NOBODYS = {
    "actor": {"id": _NOBODY_ID, "name": _NOBODY_NAME},
    "team": None,
    "department": None,
}


def rename(runtime: Runtime, user_id: str, name: str) -> None:
    """Write a user's name to every copy in the activity feed."""
    renaming.rename_user(runtime.database, user_id, name)


def erase(runtime: Runtime, user_id: str, until: datetime | None = None) -> Step:
    """Erase a user; every step may repeat. The ranks of other users' items stay.

    With `until`, erases only the user's actions, comments and reactions up to then, and the user's
    name in actions up to then.
    """
    database = runtime.database
    if until is None:
        _forget_place(database, user_id)
    conducted: Document = {"conducted": {"$lte": until}} if until else {}
    mine = {"actor.id": user_id, **conducted}
    for action in actions.ACTIONS.of(database).find(mine, {"_id": 1}):
        actions.bury(runtime, action["_id"])
        cascade.cascade(runtime, action["_id"])
        # The tombstone stays, without a name, for a delivery in progress.
        actions.ACTIONS.of(database).update_one({"_id": action["_id"]}, {"$set": _NOBODYS})
    said: Document = {"ts": {"$lte": until}} if until else {}
    for event in events.EVENTS.of(database).find({"by.id": user_id, **said}):
        _forget_event(database, event)
    _forget_mentions(database, user_id, conducted)
    if until is None:
        items.ITEMS.of(database).delete_many({"user_id": user_id})
        outbox.JOBS.of(database).delete_many(_refills(user_id))
    return Step.DONE


def traces(database: Database[Document], user_id: str) -> list[Trace]:
    """Return the collections and filters of documents that belong to a user or name the user."""
    persons, places = people.PEOPLE.of(database), people.PLACES.of(database)
    rows, jobs = actions.ACTIONS.of(database), outbox.JOBS.of(database)
    named: Document = {"mentions": user_id, "$or": [*_as_user(user_id), _not_as_thing(user_id)]}
    managed, assigned = {"manager": user_id}, {"assigned": user_id}
    report, assignee = exports.other("report"), exports.other("assignee")
    return [
        Trace("actions", rows, {"actor.id": user_id}, exports.action),
        Trace("mentions", rows, named, exports.mention),
        Trace("addressed actions", rows, {"audience": user_id}, exports.addressed_action),
        Trace("action events", events.EVENTS.of(database), {"by.id": user_id}, exports.event),
        Trace("feed items", items.ITEMS.of(database), {"user_id": user_id}, exports.item),
        Trace("person", persons, {"_id": user_id}, exports.person),
        Trace("places", places, {"user_id": user_id}, exports.past_place),
        Trace("muted by", persons, {"muted": user_id}, not_shown="who mutes is not told"),
        Trace("reports", persons, managed, report),
        Trace("past reports", places, managed, report),
        Trace("assignees", persons, assigned, assignee),
        Trace("past assignees", places, assigned, assignee),
        Trace("refill", jobs, _refills(user_id), job_entries),
    ]


def _refills(user_id: str) -> Document:
    """Return the filter of a person's refills in the outbox, continued refills included."""
    whole = Refill(user_id=user_id)
    return {"$or": [outbox.filter_of(whole), outbox.filter_from(whole)]}


def _forget_place(database: Database[Document], user_id: str) -> None:
    persons, places = people.PEOPLE.of(database), people.PLACES.of(database)
    persons.delete_one({"_id": user_id})
    places.delete_many({"user_id": user_id})
    persons.update_many({"muted": user_id}, {"$pull": {"muted": user_id}})
    for rows in (persons, places):
        rows.update_many({"manager": user_id}, {"$set": {"manager": None}})
        rows.update_many({"assigned": user_id}, {"$pull": {"assigned": user_id}})


def _forget_event(database: Database[Document], event: StoredActionEvent) -> None:
    """Delete an event, lower the count, and delete its re-ranking jobs, all or nothing.

    The jobs must go: a job's id contains the event's id, and a reaction's id the user's id.
    """
    rankings = outbox.filter_from(Rerank(action_id=event["action_id"], event_id=event["_id"]))
    key = {"_id": event["_id"], "action_id": event["action_id"]}

    def work(session: ClientSession) -> None:
        # Read again: the person may have changed or withdrawn a kind meanwhile.
        found = events.EVENTS.of(database).find_one(key, session=session)
        if found:
            events.EVENTS.of(database).delete_one(key, session=session)
            _count_one_less(database, found, session)
            outbox.JOBS.of(database).delete_many(rankings, session=session)

    in_transaction(database, work)


def _count_one_less(
    database: Database[Document], event: StoredActionEvent, session: ClientSession
) -> None:
    if event["type"] == "comment":
        of, one_less = {"_id": event["action_id"]}, {"$inc": {"comment_count": -1}}
        actions.ACTIONS.of(database).update_one(of, one_less, session=session)
    elif "kind" in event:
        change = reactions.ReactionChange(None, event["kind"])
        reactions.count(database, event["action_id"], change, session)


def _forget_mentions(database: Database[Document], user_id: str, conducted: Document) -> None:
    """Remove a user from the actions of others; only texts may still have the name.

    Things of the application may have the same id, and stay.
    """
    rows = actions.ACTIONS.of(database)
    rows.update_many({"audience": user_id, **conducted}, {"$pull": {"audience": user_id}})
    mentioned = {"mentions": user_id, **conducted}
    for id_field, name_field in types.named_users().items():
        nobody = {f"descriptor.{id_field}": _NOBODY_ID, f"descriptor.{name_field}": _NOBODY_NAME}
        rows.update_many({**mentioned, f"descriptor.{id_field}": user_id}, {"$set": nobody})
    renaming.set_unregistered(database, user_id, _as_nobody, conducted)
    rows.update_many(mentioned, {"$pull": {"refs": {"id": user_id, "type": USER}}})
    # The mention last: after a crash, the next attempt finds the action by it.
    rows.update_many({**mentioned, **_not_as_thing(user_id)}, {"$pull": {"mentions": user_id}})


def _as_nobody(id_field: str, name_field: str) -> dict[str, str]:
    return {id_field: _NOBODY_ID, name_field: _NOBODY_NAME}


def _as_user(user_id: str) -> list[Document]:
    """Return the filters of the actions that name a user."""
    ref: Document = {"refs": {"$elemMatch": {"id": user_id, "type": USER}}}
    return [ref, *({f"descriptor.{field}": user_id} for field in types.named_users())]


def _not_as_thing(id_: str) -> Document:
    """Return the filter of the actions where an id names no thing of the application."""
    ref: Document = {"refs": {"$elemMatch": {"id": id_, "type": {"$ne": USER}}}}
    return {"$nor": [ref, *({f"descriptor.{field}": id_} for field in types.named_things())]}
