"""The run of a batch: item after item, by one worker at a time.

A worker changes a comment and then counts the item, in two writes. After a crash between the two,
a worker repeats the item, finds the batch's own act on the comment, and counts it then.
"""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, NamedTuple

from pymongo import ASCENDING, DESCENDING

from chalicelib.comments import nodes
from chalicelib.comments.acts import undoing, upkeep
from chalicelib.comments.batches import notifications
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.errors import (
    ActNotUndoable,
    ChangedSince,
    CommentChanged,
    CommentDeleted,
    UnknownNode,
)
from chalicelib.comments.forms import StateChange
from chalicelib.comments.log.acts import Actor
from chalicelib.comments.log.rows import BATCHES, LOG, RUNNING, Act, Batch, NamedComment, key_of
from chalicelib.comments.moderation import flags
from chalicelib.comments.store import GONE, is_shadow
from chalicelib.comments.stores import ask
from chalicelib.comments.writing import decisions
from chalicelib.database import Document
from chalicelib.errors import UnknownComment
from chalicelib.identity import Principal
from chalicelib.jobs.work import Work
from chalicelib.messaging import Message
from chalicelib.runtime import Runtime


class BatchItem(NamedTuple):
    """A comment to decide on, or an act to undo; `after`: its place in the batch."""

    after: Document
    comment: NamedComment | None
    act: Act | None


def items(runtime: Runtime, batch: Batch, most: int) -> Iterator[BatchItem]:
    """Yield at most `most` next items of a batch, in its order.

    They are named comments, a person's comments, or the acts of another batch.
    """
    if batch["undoes"] is not None:
        return _acts(runtime, batch, most)
    if batch["person"] is not None:
        return _comments_of_person(runtime, batch, most)
    begun = batch["after"].get("number", 0)
    named = enumerate(batch["comments"][begun : begun + most], start=begun + 1)
    return (BatchItem({"number": number}, comment, None) for number, comment in named)


def entries_of_person(batch: Batch) -> Document:
    """Return the filter of the entries of all comments that a batch on a person decides."""
    posted: Document = {"$lte": batch["at"]}
    if batch["since"] is not None:
        posted["$gte"] = batch["since"]
    return {"site": batch["site"], "author_id": batch["person"], "posted": posted}


def _comments_of_person(runtime: Runtime, batch: Batch, most: int) -> Iterator[BatchItem]:
    """Yield a person's comments, the last first."""
    where = _filter_after(entries_of_person(batch), "posted", batch["after"], ASCENDING)
    order = [("posted", DESCENDING), ("_id", ASCENDING)]
    fields = {"node_id": 1, "id": 1, "posted": 1}
    for row in ENTRIES.of(runtime.database).find(where, fields).sort(order).limit(most):
        named: NamedComment = {"node_id": row["node_id"], "comment_id": row["id"]}
        yield BatchItem({"posted": row["posted"], "_id": row["_id"]}, named, None)


def _acts(runtime: Runtime, batch: Batch, most: int) -> Iterator[BatchItem]:
    """Yield the acts of another batch, the last first."""
    of_batch = {"site": batch["site"], "batch": batch["undoes"], "open": None}
    where = _filter_after(of_batch, "at", batch["after"], DESCENDING)
    order = [("at", DESCENDING), ("_id", DESCENDING)]
    for act in LOG.of(runtime.database).find(where).sort(order).limit(most):
        yield BatchItem({"at": act["at"], "_id": act["_id"]}, None, act)


def _filter_after(where: Document, at: str, after: Mapping[str, Any], ids: int) -> Document:
    """Return the filter of items after a place: latest `at` first, then by `_id`.

    `ids`: the direction of `_id`, ASCENDING or DESCENDING. `after` empty: all items.
    """
    if not after:
        return where
    beyond = "$gt" if ids == ASCENDING else "$lt"
    later = {"$or": [{at: {"$lt": after[at]}}, {at: after[at], "_id": {beyond: after["_id"]}}]}
    return {"$and": [where, later]}


class RunBatch(Message):
    """Continue a batch of a moderator's decisions."""

    queue: ClassVar[str] = "moderation"
    type: Literal["run-batch"] = "run-batch"
    batch: str


Outcome = Literal["changed", "unchanged", "left"]
WORK = Work(BATCHES, RUNNING, lambda row: RunBatch(batch=row["_id"]))
# The errors that leave a comment undecided.
_PREVENTING = (UnknownNode, UnknownComment, CommentDeleted, CommentChanged)


def run(runtime: Runtime, batch_id: str) -> None:
    """Handle the next items of a batch, and send a message for the others.

    Do nothing if another worker holds the lease, or the batch has ended.
    Raises Unavailable while a move holds the node of a comment.
    """
    batch = WORK.take(runtime, {"_id": batch_id})
    if batch is None:
        return
    if batch["by"] is None:
        _stop(runtime, batch)
        return
    actor = Actor(_moderator(batch), batch["reason"], batch=batch["_id"])
    most, done = runtime.bounds.comments.batch_items_at_once, 0
    for item in items(runtime, batch, most):
        done += 1
        outcome = _handle(runtime, batch, item, actor)
        counted = {"$set": {"after": item.after}, "$inc": {outcome: 1}}
        if not WORK.renew(runtime, batch, counted, unchanged=("by",)):
            if BATCHES.of(runtime.database).find_one({"_id": batch_id, "by": None}):
                _stop(runtime, batch)
            return
    if done < most:
        notifications.tell_done(runtime, batch)
        _end(runtime, batch, {"status": "done"})
    elif WORK.release(runtime, batch):
        runtime.queues.send(RunBatch(batch=batch_id))


def _stop(runtime: Runtime, batch: Batch) -> None:
    """End the batch of an erased moderator, and remove their id and name from its log rows."""
    of_batch = {"site": batch["site"], "batch": batch["_id"], "by": {"$ne": None}}
    LOG.of(runtime.database).update_many(of_batch, {"$set": {"by": None, "by_name": None}})
    _end(runtime, batch, {"status": "stopped"})


def _moderator(batch: Batch) -> Principal:
    """Return the moderator who began a batch, with their right at its site alone."""
    who, name = batch["by"] or "", batch["by_name"] or ""
    return Principal(who, name, frozenset({"moderator"}), sites=frozenset({batch["site"]}))


def _handle(runtime: Runtime, batch: Batch, item: BatchItem, actor: Actor) -> Outcome:
    if item.act is not None:
        return _undo(runtime, batch, item.act, actor)
    if item.comment is None:
        return "left"
    with contextlib.suppress(*_PREVENTING):
        return _decide(runtime, batch, item.comment, actor)
    return "left"


def _decide(runtime: Runtime, batch: Batch, named: NamedComment, actor: Actor) -> Outcome:
    node = nodes.find_moved(runtime.database, named["node_id"])
    comment_id = named["comment_id"]
    if node["site"] != batch["site"]:
        return "left"
    found = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    if found is None or found["state"] in GONE:
        return "left"
    if found["state"] == batch["wanted"] and not is_shadow(found):
        if _is_own(runtime, batch, found.get("act"), None):
            # A former worker may have ended before it settled the flags.
            decisions.settle_flags(runtime, node, found, found["state"])
            return "changed"
        if batch["wanted"] == "pending" or not flags.wait(runtime, node, comment_id):
            return "unchanged"
    said: Document = {"state": batch["wanted"]}
    if "state" in named:
        said["as_shown"] = {"state": named["state"], "edited_at": named.get("edited")}
    elif "edited" in named:
        said["edited_at"] = named["edited"]
    decisions.set_state(runtime, node["_id"], comment_id, StateChange.model_validate(said), actor)
    return "changed"


def _undo(runtime: Runtime, batch: Batch, act: Act, actor: Actor) -> Outcome:
    try:
        undoing.take_back(runtime, act, actor._replace(undoes=act["_id"]))
    except ChangedSince:
        last = upkeep.last_act(runtime, act)
        return "changed" if _is_own(runtime, batch, last, act["_id"]) else "left"
    except ActNotUndoable:
        return "left"
    return "changed"


def _is_own(runtime: Runtime, batch: Batch, act_id: str | None, undoes: str | None) -> bool:
    """Return whether the last act on a comment is the batch's own; if so, close its row."""
    if act_id is None:
        return False
    own = {**key_of(act_id), "batch": batch["_id"], "undoes": undoes}
    return LOG.of(runtime.database).update_one(own, {"$unset": {"open": ""}}).matched_count == 1


def _end(runtime: Runtime, batch: Batch, fields: Document) -> None:
    WORK.finish(runtime, batch, {**fields, "comments": []})
