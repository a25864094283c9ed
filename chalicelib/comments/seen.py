"""Texts that were written lately at a site, by whom and where, to know one that comes again.

A mark names the comment that it was made for, so that a repeated call is not its own repetition.
One whose call died is worth nothing once it can no longer be running.
"""

from datetime import datetime, timedelta
from typing import Annotated, Any, NamedTuple, TypedDict

from pydantic import SecretStr
from pymongo import ASCENDING, IndexModel, ReturnDocument, WriteConcern

from chalicelib import signing
from chalicelib.comments import judgement, nodes
from chalicelib.comments.errors import Duplicate, NodeMoved, UnknownNode
from chalicelib.comments.store import GONE
from chalicelib.comments.stores import ask
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.runtime import Runtime

# Shorter texts are repeated by people who have nothing to do with each other.
SHORTEST = 20
KEPT = timedelta(hours=24)
# For how long a mark stands for a call that may be running: longer than a function can run.
RUNNING = timedelta(seconds=40)
MOST_MARKS = 10
_DIGEST_BYTES = 12


class Mark(TypedDict):
    """Who has written a text, as a digest, and in which comment: `{node}/{comment}`."""

    by: str
    thing: str
    at: datetime


class SeenText(TypedDict):
    """A text that was written at a site; `_id` has a digest of it, and its site."""

    _id: str
    marks: Annotated[list[Mark], AtMost(MOST_MARKS)]
    expires: datetime


SEEN = Collection(
    "comments.seen",
    SeenText,
    indexes=(IndexModel([("expires", ASCENDING)], expireAfterSeconds=0),),
    shard_key={"_id": "hashed"},
)


class Writing(NamedTuple):
    """A text that somebody is about to write in a comment of a site."""

    site: str
    user_id: str
    thing: str
    text: str


def mark(runtime: Runtime, writing: Writing) -> int:
    """Note that somebody writes a text, and return how many others have lately written it.

    Raises Duplicate if the person has another comment with it. A short text is not noted.
    """
    words = judgement.words(writing.text).strip()
    if len(words) < SHORTEST:
        return 0
    key = signing.signing_key(runtime.settings.signing_keys)
    row_id = _digest(key, b"text", writing.site, words)
    # The same person has another digest in each row, so that rows say nothing of them together.
    by = _digest(key, b"by", row_id, writing.user_id)
    made: Mark = {
        "by": by,
        "thing": writing.thing,
        "at": runtime.now(),
    }
    marks = _noted(runtime, row_id, made)
    own = next((each for each in marks if each["by"] == by), made)
    if own["thing"] != made["thing"]:
        _check_gone(runtime, own)
        renewed = {"$set": {"marks.$": made}}
        SEEN.of(runtime.database).update_one(
            {"_id": row_id, "marks": {"$elemMatch": {**own}}}, renewed
        )
    return sum(each["by"] != by for each in marks)


def _noted(runtime: Runtime, row_id: str, made: Mark) -> list[Mark]:
    """Add a mark, if its writer has none and there is room; return the marks of before."""
    begin = made["at"] - KEPT
    had = {"$ifNull": ["$marks", []]}
    kept: Document = {"$filter": {"input": had, "cond": {"$gt": ["$$this.at", begin]}}}
    is_known = {"$in": [made["by"], "$marks.by"]}
    is_full = {"$gte": [{"$size": "$marks"}, MOST_MARKS]}
    added: Document = {"$concatArrays": ["$marks", [{"$literal": made}]]}
    # Losing a mark in an election is no harm.
    rows = SEEN.of(runtime.database).with_options(write_concern=WriteConcern(1))
    before: Any = rows.find_one_and_update(
        {"_id": row_id},
        [
            {"$set": {"marks": kept, "expires": made["at"] + KEPT}},
            {"$set": {"marks": {"$cond": [{"$or": [is_known, is_full]}, "$marks", added]}}},
        ],
        upsert=True,
        return_document=ReturnDocument.BEFORE,
    )
    return [each for each in before["marks"] if each["at"] > begin] if before else []


def _check_gone(runtime: Runtime, own: Mark) -> None:
    """Raise Duplicate unless the comment of a mark was never stored, or is deleted by now."""
    if own["at"] > runtime.now() - RUNNING or _is_there(runtime, own["thing"]):
        raise Duplicate


def _is_there(runtime: Runtime, thing: str) -> bool:
    node_id, _, comment_id = thing.rpartition("/")
    try:
        node = nodes.find(runtime.database, node_id)
    except NodeMoved as moved:
        return _is_there(runtime, f"{moved.moved_to}/{comment_id}")
    except UnknownNode:
        return False
    comment = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    return comment is not None and comment["state"] not in GONE


def _digest(key: SecretStr, purpose: bytes, *parts: str) -> str:
    message = b"\0".join([b"seen text", purpose, *(part.encode() for part in parts)])
    return signing.tag(message, key, _DIGEST_BYTES).hex()
