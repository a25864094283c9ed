"""Reactions to actions: one for each user, with a count for each kind.

A withdrawal removes the kind and leaves the event. The event records that the user has raised the
action once, so a later reaction does not raise the action again.
"""

from typing import NamedTuple

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.http.paging import Cursors
from chalicelib.identity import Principal
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social import paging
from chalicelib.social.activity.actions import actions
from chalicelib.social.activity.actions.answers import ActionReactionsAnswer, reaction_answer
from chalicelib.social.activity.actions.events import BY_TIME, EVENTS
from chalicelib.social.activity.actions.forms import ReactionsQuery
from chalicelib.social.activity.actions.shapes import StoredActionEvent
from chalicelib.social.errors import UnknownAction
from chalicelib.social.graph import following, users
from chalicelib.social.graph.users import By
from chalicelib.social.messages import Rerank
from chalicelib.social.paging import ListEntry, ListPosition, newer_than, parse_position
from chalicelib.social.reactions import ReactionKind


class ReactionChange(NamedTuple):
    """The change of a person's reaction from the kind `before` to `kind`; None: no reaction.

    `new`: the person's first reaction to the action.
    """

    kind: str | None
    before: str | None
    new: bool = False


def react(runtime: Runtime, action_id: str, caller: Principal, kind: ReactionKind) -> None:
    """Store the caller's one reaction to an action; another kind replaces the first.

    Only a first reaction re-ranks; otherwise a person could hold an action on top by toggling.
    Raises UnknownAction if the caller may not see the action.
    """
    actions.find_visible(runtime.database, action_id, caller)
    _store(runtime, action_id, users.ensure(runtime, caller), kind)


def withdraw(runtime: Runtime, action_id: str, caller: Principal) -> None:
    """Withdraw the caller's reaction to an action; without one, nothing changes.

    Raises UnknownAction if the caller may not see the action.
    """
    actions.find_visible(runtime.database, action_id, caller)
    database, key = runtime.database, _key(action_id, caller.id)

    def work(session: ClientSession) -> None:
        before = EVENTS.of(database).find_one(key, session=session)
        if before and "kind" in before:
            EVENTS.of(database).update_one(key, {"$unset": {"kind": ""}}, session=session)
            count(database, action_id, ReactionChange(None, before["kind"]), session)

    in_transaction(database, work)


def _store(runtime: Runtime, action_id: str, by: By, kind: ReactionKind) -> None:
    """Store a reaction, its count and, for a first reaction, the job that re-ranks; atomic."""
    database, key = runtime.database, _key(action_id, by["id"])
    new = {"type": "reaction", "by": by, "ts": runtime.now()}
    rank = Rerank(action_id=action_id, event_id=key["_id"])

    def work(session: ClientSession) -> bool:
        rows = EVENTS.of(database)
        before = rows.find_one(key, session=session)
        if before and before.get("kind") == kind:
            return False
        kept = {"$set": {"kind": kind}, "$setOnInsert": new}
        rows.update_one(key, kept, upsert=True, session=session)
        change = ReactionChange(kind, before.get("kind") if before else None, new=before is None)
        count(database, action_id, change, session)
        if change.new:
            outbox.note(runtime, rank, session)
        return change.new

    if in_transaction(database, work):
        runtime.queues.send(rank)


def _key(action_id: str, user_id: str) -> dict[str, str]:
    return {"_id": f"{action_id}:{user_id}", "action_id": action_id}


def count(
    database: Database[Document], action_id: str, change: ReactionChange, session: ClientSession
) -> None:
    """Adjust an action's counts to the change of a reaction.

    The caller writes the event first, in the same transaction. Raises UnknownAction for a
    deleted action, unless the change removes the reaction.
    """
    rows, there = actions.ACTIONS.of(database), {"_id": action_id, "deleted": False}
    total = (change.kind is not None) - (change.before is not None)
    added: Document = {"reaction_count": total, "event_count": int(change.new)}
    added |= {f"reactions.{kind}": -1 for kind in [change.before] if kind}
    added |= {f"reactions.{kind}": 1 for kind in [change.kind] if kind}
    found = rows.update_one(there, {"$inc": added}, session=session).matched_count
    if not found and change.kind is not None:
        raise UnknownAction


def of_reader(database: Database[Document], action_id: str, reader_id: str) -> str | None:
    """Return the kind of a reader's reaction to an action. None: no reaction."""
    found = EVENTS.of(database).find_one(_key(action_id, reader_id), {"kind": 1})
    return found.get("kind") if found else None


def list_all(
    runtime: Runtime, action_id: str, caller: Principal, query: ReactionsQuery
) -> ActionReactionsAnswer:
    """Return a page of the reactions to an action, oldest first, of one kind or of all.

    A page omits reactions across a block, and may be short before the end; `next` is None at the
    end. Raises UnknownAction if the caller may not see the action.
    """
    database = runtime.database
    scope = f"action-reactions:{action_id}:{query.kind or ''}"
    cursors = Cursors(scope, runtime.settings.signing_keys)
    start = parse_position(cursors.position(query))
    actions.find_visible(database, action_id, caller)
    of_kind: Document = {"kind": query.kind or {"$exists": True}}

    def fetch(after: ListPosition | None, limit: int) -> list[ListEntry[StoredActionEvent]]:
        where: Document = {"action_id": action_id, "type": "reaction", **of_kind}
        if after:
            where |= newer_than(after, "_id")
        found = EVENTS.of(database).find(where).sort(BY_TIME).limit(limit)
        return [ListEntry(ListPosition(each["ts"], each["_id"]), each) for each in found]

    def show(found: list[StoredActionEvent]) -> list[StoredActionEvent | None]:
        reader = following.reader(database, caller.id, {each["by"]["id"] for each in found})
        return [None if each["by"]["id"] in reader.blocked else each for each in found]

    shown, last = paging.fill_page(runtime, query.limit, start, fetch, show)
    return {
        "reactions": [reaction_answer(each) for _position, each in shown],
        "next": cursors.following([last.ts.isoformat(), last.post_id] if last else None),
    }
