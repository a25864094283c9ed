"""What a batch goes through: named comments, a person's, or the acts of another batch."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pymongo import ASCENDING, DESCENDING

from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.log.batches import Batch, NamedComment
from chalicelib.comments.log.rows import LOG, Act
from chalicelib.database import Document
from chalicelib.runtime import Runtime


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
