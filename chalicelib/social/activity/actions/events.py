"""What happens to an action after its conducting: comments and reactions, each a document.

Each event, and the job that re-ranks its action, are stored in one transaction.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Collection, Document, in_transaction
from chalicelib.errors import UnknownComment
from chalicelib.http import PageQuery
from chalicelib.http.pages import Cursors
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime
from chalicelib.social import outbox
from chalicelib.social.activity.actions import actions
from chalicelib.social.errors import UnknownAction
from chalicelib.social.graph import following, users
from chalicelib.social.graph.users import By
from chalicelib.social.messages import Rerank
from chalicelib.social.paging import pages
from chalicelib.social.paging.positions import Entry, Position, dated, newer_than
from chalicelib.social.posts.models import comment_answer
from chalicelib.social.posts.shapes import PostComment
from chalicelib.social.posts.visibility import sees


class Event(NamedTuple):
    """Something that a person did to an action; its conducting is the first."""

    by: str
    ts: datetime
    conducting: bool = False


_BY_TIME = [("ts", ASCENDING), ("_id", ASCENDING)]


class StoredActionEvent(TypedDict):
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
    StoredActionEvent,
    indexes=(
        IndexModel([("action_id", ASCENDING), ("type", ASCENDING), *_BY_TIME]),
        IndexModel([("by.id", ASCENDING)]),
    ),
    shard_key={"action_id": 1},
)
_EVENT = {"action_id": 1, "by.id": 1, "ts": 1}


def comment(runtime: Runtime, action_id: str, caller: Principal, text: str) -> PostComment:
    """Store a comment on an action and return it.

    Raises UnknownAction if the caller may not see the action.
    """
    actions.find_visible(runtime.database, action_id, caller)
    now = runtime.now()
    event: StoredActionEvent = {
        "_id": new_id(now, runtime.random),
        "action_id": action_id,
        "type": "comment",
        "by": users.ensure(runtime, caller),
        "ts": now,
        "text": text,
    }
    _store(runtime, event, "text")
    return _comment_of(event)


def find_comment(database: Database[Document], action_id: str, comment_id: str) -> PostComment:
    """Return a comment of an action; raises UnknownComment."""
    wanted = {"_id": comment_id, "action_id": action_id, "type": "comment"}
    event = EVENTS.of(database).find_one(wanted)
    if event is None:
        raise UnknownComment
    return _comment_of(event)


def react(runtime: Runtime, action_id: str, caller: Principal, kind: str) -> None:
    """Store the caller's one reaction to an action; another kind replaces the first.

    Only a first reaction re-ranks; otherwise toggling a reaction would keep an action on top.
    Raises UnknownAction if the caller may not see the action.
    """
    actions.find_visible(runtime.database, action_id, caller)
    event: StoredActionEvent = {
        "_id": f"{action_id}:{caller.id}",
        "action_id": action_id,
        "type": "reaction",
        "by": users.ensure(runtime, caller),
        "ts": runtime.now(),
        "kind": kind,
    }
    _store(runtime, event, "kind")


def _store(runtime: Runtime, event: StoredActionEvent, said: Literal["text", "kind"]) -> None:
    """Store an event and count it; of an existing one, only the field `said` changes."""
    key = {"_id": event["_id"], "action_id": event["action_id"]}
    new = {"type": event["type"], "by": event["by"], "ts": event["ts"]}
    rank = Rerank(action_id=event["action_id"], event_id=event["_id"])

    def work(session: ClientSession) -> bool:
        stored = EVENTS.of(runtime.database).update_one(
            key, {"$set": {said: event[said]}, "$setOnInsert": new}, upsert=True, session=session
        )
        if not stored.upserted_id:
            return False
        counted = actions.ACTIONS.of(runtime.database).update_one(
            {"_id": event["action_id"], "deleted": False},
            {"$inc": {f"{event['type']}_count": 1, "event_count": 1}},
            session=session,
        )
        if not counted.matched_count:
            raise UnknownAction
        outbox.note(runtime, rank, session)
        return True

    if in_transaction(runtime.database, work):
        runtime.queues.send(rank)


def find(database: Database[Document], action_id: str, event_id: str) -> Event | None:
    """Return who did something to an action, and when."""
    where = {"_id": event_id, "action_id": action_id}
    found = EVENTS.of(database).find_one(where, _EVENT)
    return _event(found) if found else None


def of_actions(
    database: Database[Document], action_ids: Iterable[str]
) -> Iterator[tuple[str, Event]]:
    """Yield what happened to each of these actions, in any order."""
    where = {"action_id": {"$in": list(action_ids)}}
    for event in EVENTS.of(database).find(where, _EVENT):
        yield event["action_id"], _event(event)


def _comment_of(event: StoredActionEvent) -> PostComment:
    """Return a comment under the names that comments on posts have."""
    return {
        "id": event["_id"],
        "by": event["by"],
        "ts": event["ts"],
        "text": event["text"],
    }


def _event(stored: StoredActionEvent) -> Event:
    return Event(stored["by"]["id"], stored["ts"])


def remove(database: Database[Document], action_id: str) -> None:
    """Delete what happened to an action."""
    EVENTS.of(database).delete_many({"action_id": action_id})


def list_comments(
    runtime: Runtime, action_id: str, caller: Principal, query: PageQuery
) -> dict[str, Any]:
    """Return a page of an action's comments, oldest first: `{comments, next}`.

    A page that blocks have thinned may be short before the end; only `next` says whether there
    is more. Raises UnknownAction if the caller may not see the action.
    """
    database = runtime.database
    actions.find_visible(database, action_id, caller)

    def fetch(after: Position | None, count: int) -> list[Entry[PostComment]]:
        where: Document = {"action_id": action_id, "type": "comment"}
        if after:
            where |= newer_than(after, "ts", "_id")
        found = EVENTS.of(database).find(where).sort(_BY_TIME).limit(count)
        return [Entry(Position(each["ts"], each["_id"]), _comment_of(each)) for each in found]

    def show(found: list[PostComment]) -> list[PostComment | None]:
        reader = following.reader(database, caller.id, {each["by"]["id"] for each in found})
        return [comment if sees(reader, comment) else None for comment in found]

    cursors = Cursors(f"action-comments:{action_id}", runtime.settings.signing_keys)
    shown, last = pages.filled(runtime, query.limit, dated(cursors.position(query)), fetch, show)
    return {
        "comments": [comment_answer(each) for _position, each in shown],
        "next": cursors.following([last.ts.isoformat(), last.post_id] if last else None),
    }
