"""Events of an action: comments and reactions, each a document.

One transaction stores an event and the job that re-ranks its action.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Collection, Document, in_transaction
from chalicelib.errors import UnknownComment
from chalicelib.http import PageQuery
from chalicelib.http.paging import Cursors
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social import paging
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.actions.answers import ActionCommentsAnswer, comment_answer
from chalicelib.social.activity.actions.shapes import StoredActionEvent
from chalicelib.social.errors import UnknownAction
from chalicelib.social.graph import following, users
from chalicelib.social.messages import Rerank
from chalicelib.social.paging import ListEntry, ListPosition, newer_than, parse_position
from chalicelib.social.posts.shapes import PostComment
from chalicelib.social.posts.visibility import may_see_comment


class Event(NamedTuple):
    """An event of an action: its conducting, a comment or a reaction; `by` is the person's id."""

    by: str
    ts: datetime
    conducting: bool = False


BY_TIME = [("ts", ASCENDING), ("_id", ASCENDING)]


EVENTS = Collection(
    "feed.event",
    StoredActionEvent,
    indexes=(
        IndexModel([("action_id", ASCENDING), ("type", ASCENDING), *BY_TIME]),
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
    _store(runtime, event)
    return _comment_of(event)


def find_comment(database: Database[Document], action_id: str, comment_id: str) -> PostComment:
    """Return a comment of an action; raises UnknownComment."""
    wanted = {"_id": comment_id, "action_id": action_id, "type": "comment"}
    event = EVENTS.of(database).find_one(wanted)
    if event is None:
        raise UnknownComment
    return _comment_of(event)


def _store(runtime: Runtime, event: StoredActionEvent) -> None:
    """Store a comment, its count and the job that re-ranks its action, all or nothing."""
    rank = Rerank(action_id=event["action_id"], event_id=event["_id"])

    def work(session: ClientSession) -> None:
        EVENTS.of(runtime.database).insert_one(event, session=session)
        counted = actions.ACTIONS.of(runtime.database).update_one(
            {"_id": event["action_id"], "deleted": False},
            {"$inc": {"comment_count": 1, "event_count": 1}},
            session=session,
        )
        if not counted.matched_count:
            raise UnknownAction
        outbox.note(runtime, rank, session)

    in_transaction(runtime.database, work)
    runtime.queues.send(rank)


def find(database: Database[Document], action_id: str, event_id: str) -> Event | None:
    """Return the person and time of an event. None: an unknown event."""
    where = {"_id": event_id, "action_id": action_id}
    found = EVENTS.of(database).find_one(where, _EVENT)
    return _event(found) if found else None


def of_actions(
    database: Database[Document], action_ids: Iterable[str]
) -> Iterator[tuple[str, Event]]:
    """Yield the stored events of these actions as `(action id, event)`, in any order."""
    where = {"action_id": {"$in": list(action_ids)}}
    for event in EVENTS.of(database).find(where, _EVENT):
        yield event["action_id"], _event(event)


def _comment_of(event: StoredActionEvent) -> PostComment:
    """Return a comment with the field names of comments on posts."""
    return {
        "id": event["_id"],
        "by": event["by"],
        "ts": event["ts"],
        "text": event["text"],
    }


def _event(stored: StoredActionEvent) -> Event:
    return Event(stored["by"]["id"], stored["ts"])


def remove(database: Database[Document], action_id: str) -> None:
    """Delete the events of an action."""
    EVENTS.of(database).delete_many({"action_id": action_id})


def page(
    runtime: Runtime, action_id: str, caller_id: str, query: PageQuery, *, hides_blocked: bool
) -> ActionCommentsAnswer:
    """Return a page of an action's comments, oldest first; the caller has checked its access.

    Blocks may make a page short before the end; `next` is None at the end.
    """
    database = runtime.database
    cursors = Cursors(f"action-comments:{action_id}", runtime.settings.signing_keys)
    start = parse_position(cursors.position(query))

    def fetch(after: ListPosition | None, count: int) -> list[ListEntry[PostComment]]:
        where: Document = {"action_id": action_id, "type": "comment"}
        if after:
            where |= newer_than(after, "_id")
        found = EVENTS.of(database).find(where).sort(BY_TIME).limit(count)
        return [
            ListEntry(ListPosition(each["ts"], each["_id"]), _comment_of(each)) for each in found
        ]

    def show(found: list[PostComment]) -> list[PostComment | None]:
        if not hides_blocked:
            return list(found)
        reader = following.reader(database, caller_id, {each["by"]["id"] for each in found})
        return [comment if may_see_comment(reader, comment) else None for comment in found]

    shown, last = paging.fill_page(runtime, query.limit, start, fetch, show)
    return {
        "comments": [comment_answer(each) for _position, each in shown],
        "next": cursors.following([last.ts.isoformat(), last.post_id] if last else None),
    }
