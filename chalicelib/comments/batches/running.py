"""Going through a batch: one item after the other, by one worker at a time.

What is done with an item, and that it is done with, are two writes. A worker that ends between them
does the item again, finds its own act on the comment, and counts it then.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar, Literal, NamedTuple

from pymongo import ASCENDING, DESCENDING, ReturnDocument

from chalicelib.comments import nodes
from chalicelib.comments.acts import undoing, upkeep
from chalicelib.comments.discussion import editing
from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.errors import (
    ActNotUndoable,
    ChangedSince,
    CommentChanged,
    CommentDeleted,
    NodeMoved,
    UnknownNode,
)
from chalicelib.comments.forms import StateChange
from chalicelib.comments.log.acts import Actor
from chalicelib.comments.log.rows import BATCHES, LOG, RUNNING, Act, Batch, NamedComment, key_of
from chalicelib.comments.store import GONE
from chalicelib.comments.stores import ask
from chalicelib.database import Document
from chalicelib.errors import UnknownComment
from chalicelib.identity import Principal
from chalicelib.ids import new_id
from chalicelib.jobs import resending
from chalicelib.jobs.resending import Resending
from chalicelib.messaging import Message
from chalicelib.runtime import Runtime

# What a batch goes through: named comments, a person's, or the acts of another batch.


class Item(NamedTuple):
    """A comment that is decided on, or an act that is undone, and its place in the batch."""

    after: Document
    comment: NamedComment | None
    act: Act | None


def items(runtime: Runtime, batch: Batch, most: int) -> Iterator[Item]:
    """Give the next items of a batch, in its order, at most so many."""
    if batch["undoes"] is not None:
        return _acts(runtime, batch, most)
    if batch["person"] is not None:
        return _written(runtime, batch, most)
    begun = batch["after"].get("number", 0)
    named = enumerate(batch["comments"][begun : begun + most], start=begun + 1)
    return (Item({"number": number}, comment, None) for number, comment in named)


def written_by(batch: Batch) -> Document:
    """Return the filter of the entries of a person's comments that a batch is of."""
    posted: Document = {"$lte": batch["at"]}
    if batch["since"] is not None:
        posted["$gte"] = batch["since"]
    return {"site": batch["site"], "author_id": batch["person"], "posted": posted}


def _written(runtime: Runtime, batch: Batch, most: int) -> Iterator[Item]:
    """Give a person's comments, the last first."""
    where = _beyond(written_by(batch), "posted", batch["after"], ASCENDING)
    order = [("posted", DESCENDING), ("_id", ASCENDING)]
    fields = {"node_id": 1, "id": 1, "posted": 1}
    for row in ENTRIES.of(runtime.database).find(where, fields).sort(order).limit(most):
        named: NamedComment = {"node_id": row["node_id"], "comment_id": row["id"]}
        yield Item({"posted": row["posted"], "_id": row["_id"]}, named, None)


def _acts(runtime: Runtime, batch: Batch, most: int) -> Iterator[Item]:
    """Give what another batch did, the last first."""
    of_batch = {"site": batch["site"], "batch": batch["undoes"], "open": None}
    where = _beyond(of_batch, "at", batch["after"], DESCENDING)
    order = [("at", DESCENDING), ("_id", DESCENDING)]
    for act in LOG.of(runtime.database).find(where).sort(order).limit(most):
        yield Item({"at": act["at"], "_id": act["_id"]}, None, act)


def _beyond(where: Document, at: str, after: Mapping[str, Any], ids: int) -> Document:
    """Return a filter for what comes after a place, by a time that falls and ids at one time."""
    if not after:
        return where
    beyond = "$gt" if ids == ASCENDING else "$lt"
    later = {"$or": [{at: {"$lt": after[at]}}, {at: after[at], "_id": {beyond: after["_id"]}}]}
    return {"$and": [where, later]}


class RunBatch(Message):
    """Go on with a batch of a moderator's decisions."""

    queue: ClassVar[str] = "moderation"
    type: Literal["run-batch"] = "run-batch"
    batch: str


Outcome = Literal["changed", "unchanged", "left"]
RESENDING = Resending(at="due", where=RUNNING)
# What keeps a comment from being decided on.
_PREVENTING = (UnknownNode, NodeMoved, UnknownComment, CommentDeleted, CommentChanged)
# What of a batch is needed while it runs alone.
_WHILE_RUNNING = ("due", "leased_until", "taken_by", "resends", "resent_by")


def run(runtime: Runtime, batch_id: str) -> None:
    """Go on with a batch that no other worker has, and send a message for the rest.

    Raises Unavailable while the node of a comment is being moved.
    """
    batch = _take(runtime, batch_id)
    if batch is None:
        return
    if batch["by"] is None:
        _end(runtime, batch, {"status": "stopped"})
        return
    actor = Actor(_moderator(batch), batch["reason"], batch=batch["_id"])
    most, done = runtime.bounds.comments.batch_items_at_once, 0
    for item in items(runtime, batch, most):
        done += 1
        if not _save(runtime, batch, item, _handle(runtime, batch, item, actor)):
            return
    if done < most:
        _end(runtime, batch, {"status": "done"})
    elif _give_up(runtime, batch):
        runtime.queues.send(RunBatch(batch=batch_id))


def sweep(runtime: Runtime) -> None:
    """Send messages again for the batches that no worker goes on with."""
    resending.sweep(runtime, BATCHES.of(runtime.database), RESENDING, _messages)


def _messages(rows: Iterable[Batch]) -> Iterator[RunBatch]:
    return (RunBatch(batch=row["_id"]) for row in rows)


def _moderator(batch: Batch) -> Principal:
    """Return who began a batch, with the right that was checked then, at its site alone."""
    who, name = batch["by"] or "", batch["by_name"] or ""
    return Principal(who, name, frozenset({"moderator"}), sites=frozenset({batch["site"]}))


def _handle(runtime: Runtime, batch: Batch, item: Item, actor: Actor) -> Outcome:
    if item.act is not None:
        return _undo(runtime, batch, item.act, actor)
    if item.comment is None:
        return "left"
    with contextlib.suppress(*_PREVENTING):
        return _decide(runtime, batch, item.comment, actor)
    return "left"


def _decide(runtime: Runtime, batch: Batch, named: NamedComment, actor: Actor) -> Outcome:
    node = nodes.find(runtime.database, named["node_id"])
    comment_id = named["comment_id"]
    found = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    if found is None or found["state"] in GONE:
        return "left"
    if found["state"] == batch["wanted"]:
        return "changed" if _is_own(runtime, batch, found.get("act"), None) else "unchanged"
    said: Document = {"state": batch["wanted"]}
    if "edited" in named:
        said["edited_at"] = named["edited"]
    editing.set_state(runtime, node["_id"], comment_id, StateChange.model_validate(said), actor)
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
    """Return whether the last act on a comment is of this batch, and close its row then."""
    if act_id is None:
        return False
    own = {**key_of(act_id), "batch": batch["_id"], "undoes": undoes}
    return LOG.of(runtime.database).update_one(own, {"$unset": {"open": ""}}).matched_count == 1


def _take(runtime: Runtime, batch_id: str) -> Batch | None:
    """Return a running batch for this worker alone, for one lease."""
    now, rows = runtime.now(), BATCHES.of(runtime.database)
    free = {"$or": [{"leased_until": None}, {"leased_until": {"$lte": now}}]}
    until = _lease(runtime)
    taken = {"taken_by": new_id(now, runtime.random), "leased_until": until, "due": until}
    return rows.find_one_and_update(
        {"_id": batch_id, **RUNNING, **free},
        {"$set": {**taken, "resends": 0}},
        return_document=ReturnDocument.AFTER,
    )


def _save(runtime: Runtime, batch: Batch, item: Item, outcome: Outcome) -> bool:
    """Note that an item is done with; False if another worker has taken the batch over."""
    until = _lease(runtime)
    done = {"after": item.after, "leased_until": until, "due": until}
    rows = BATCHES.of(runtime.database)
    return rows.update_one(_own(batch), {"$set": done, "$inc": {outcome: 1}}).matched_count == 1


def _give_up(runtime: Runtime, batch: Batch) -> bool:
    """Leave the rest of a batch to the next message; False if another worker has it."""
    free = {"$unset": {"taken_by": "", "leased_until": ""}}
    return BATCHES.of(runtime.database).update_one(_own(batch), free).matched_count == 1


def _end(runtime: Runtime, batch: Batch, fields: Document) -> None:
    gone = dict.fromkeys(_WHILE_RUNNING, "")
    ended = {"$set": {**fields, "comments": []}, "$unset": gone}
    BATCHES.of(runtime.database).update_one(_own(batch), ended)


def _own(batch: Batch) -> Document:
    return {"_id": batch["_id"], **RUNNING, "taken_by": batch.get("taken_by")}


def _lease(runtime: Runtime) -> datetime:
    return runtime.now() + timedelta(milliseconds=runtime.settings.lease_ms)
