"""What happens to an action after its conducting: comments and reactions, each a document.

Each event and the note of what it owes, the ranking of its action anew, are one transaction.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database

from chalicelib.cursors import decode_cursor, encode_cursor
from chalicelib.database import Collection, Document, in_transaction
from chalicelib.errors import UnknownAction
from chalicelib.http import PageQuery
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime
from chalicelib.social import errands, users
from chalicelib.social.activity import actions
from chalicelib.social.activity.relevancy import Event
from chalicelib.social.messages import Rank
from chalicelib.social.models import comment_answer
from chalicelib.social.users import By
from chalicelib.social.views import Position, newer_than

_BY_TIME = [("ts", ASCENDING), ("_id", ASCENDING)]


class StoredEvent(TypedDict):
    """A comment, with its `text`, or a person's one reaction, with its `kind`."""

    _id: str
    action_id: str
    type: Literal["comment", "reaction"]
    by: By
    ts: datetime
    text: NotRequired[str]
    kind: NotRequired[str]


EVENTS = Collection(
    "feed.event",
    StoredEvent,
    indexes=(
        IndexModel([("action_id", ASCENDING), ("type", ASCENDING), *_BY_TIME]),
        IndexModel([("by.id", ASCENDING)]),
    ),
    shard_key={"action_id": 1},
)
_EVENT = {"action_id": 1, "by.id": 1, "ts": 1}


def collection(database: Database[Document]) -> MongoCollection[Document]:
    """Return the events' collection."""
    return database[EVENTS.name]


def comment(runtime: Runtime, action_id: str, caller: Principal, text: str) -> Document:
    """Store a comment on an action and return it.

    Raises UnknownAction where the caller may not see the action.
    """
    actions.find_visible(runtime.database, action_id, caller)
    now = runtime.now()
    event: Document = {
        "_id": new_id(now, runtime.random),
        "action_id": action_id,
        "type": "comment",
        "by": users.ensure(runtime, caller),
        "ts": now,
        "text": text,
    }
    _store(runtime, event, "text")
    return {**event, "id": event["_id"]}


def react(runtime: Runtime, action_id: str, caller: Principal, kind: str) -> None:
    """Store the caller's one reaction to an action; another kind takes the place of the first.

    Only the first is an event, or who changes their mind would lead the feed. Raises
    UnknownAction where the caller may not see the action.
    """
    actions.find_visible(runtime.database, action_id, caller)
    event: Document = {
        "_id": f"{action_id}:{caller.id}",
        "action_id": action_id,
        "type": "reaction",
        "by": users.ensure(runtime, caller),
        "ts": runtime.now(),
        "kind": kind,
    }
    _store(runtime, event, "kind")


def _store(runtime: Runtime, event: Document, said: str) -> None:
    """Store an event and count it; of one that is there the field `said` alone changes."""
    key = {name: event[name] for name in ("_id", "action_id")}
    new = {name: event[name] for name in ("type", "by", "ts")}
    rank = Rank(action_id=event["action_id"], event_id=event["_id"])

    def work(session: ClientSession) -> bool:
        stored = collection(runtime.database).update_one(
            key, {"$set": {said: event[said]}, "$setOnInsert": new}, upsert=True, session=session
        )
        if not stored.upserted_id:
            return False
        counted = actions.collection(runtime.database).update_one(
            {"_id": event["action_id"], "deleted": False},
            {"$inc": {f"{event['type']}_count": 1, "event_count": 1}},
            session=session,
        )
        if not counted.matched_count:
            raise UnknownAction
        errands.note(runtime, rank, session)
        return True

    if in_transaction(runtime.database, work):
        runtime.queues.send(rank)


def find(database: Database[Document], action_id: str, event_id: str) -> Event | None:
    """Return who did something to an action, and when."""
    where = {"_id": event_id, "action_id": action_id}
    found = collection(database).find_one(where, _EVENT)
    return _event(found) if found else None


def of_actions(
    database: Database[Document], action_ids: Iterable[str]
) -> Iterator[tuple[str, Event]]:
    """Yield what happened to each of these actions, in any order."""
    where = {"action_id": {"$in": list(action_ids)}}
    for event in collection(database).find(where, _EVENT):
        yield event["action_id"], _event(event)


def _event(stored: Document) -> Event:
    return Event(stored["by"]["id"], stored["ts"])


def remove(database: Database[Document], action_id: str) -> None:
    """Delete what happened to an action."""
    collection(database).delete_many({"action_id": action_id})


def list_comments(
    runtime: Runtime, action_id: str, caller: Principal, query: PageQuery
) -> dict[str, Any]:
    """Return a page of an action's comments, oldest first: `{comments, next}`.

    Raises UnknownAction where the caller may not see the action.
    """
    actions.find_visible(runtime.database, action_id, caller)
    keys, scope = runtime.settings.signing_keys, f"action-comments:{action_id}"
    where: Document = {"action_id": action_id, "type": "comment"}
    if query.cursor:
        ts, event_id = decode_cursor(query.cursor, scope, keys)
        where |= newer_than(Position(datetime.fromisoformat(ts), event_id), "ts", "_id")
    found = list(collection(runtime.database).find(where).sort(_BY_TIME).limit(query.limit + 1))
    page = found[: query.limit]
    last = [page[-1]["ts"].isoformat(), page[-1]["_id"]] if len(found) > len(page) else None
    return {
        "comments": [comment_answer({**event, "id": event["_id"]}) for event in page],
        "next": encode_cursor(last, scope, keys) if last else None,
    }
