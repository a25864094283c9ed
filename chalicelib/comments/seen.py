"""Detection of repeated texts: a site's recent texts, with their authors and comments.

A mark names its comment, so the retry of a call is no repetition. A mark whose comment is not
stored counts for the time `RUNNING`, since its call may still run.
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

# Different people write equal shorter texts by chance.
SHORTEST = 20
KEPT = timedelta(hours=24)
# No request runs this long (30 s at most): the call of an older mark has ended.
RUNNING = timedelta(seconds=40)
MOST_MARKS = 10
_DIGEST_BYTES = 12


class TextMark(TypedDict):
    """The author of a text, as a digest, and its comment: `{node}/{comment}`."""

    by: str
    thing: str
    at: datetime


class SeenText(TypedDict):
    """A recent text of a site; `_id` is a digest of the site and the text."""

    _id: str
    marks: Annotated[list[TextMark], AtMost(MOST_MARKS)]
    expires: datetime


SEEN = Collection(
    "comments.seen",
    SeenText,
    indexes=(IndexModel([("expires", ASCENDING)], expireAfterSeconds=0),),
    shard_key={"_id": "hashed"},
)


class Writing(NamedTuple):
    """A text that an author is about to post in a comment of a site."""

    site: str
    user_id: str
    thing: str
    text: str


def mark(runtime: Runtime, writing: Writing) -> int:
    """Note the author of a text; return the number of other recent authors of the text.

    Raises Duplicate if the author has another comment with it. Returns 0 for a text under 20
    characters, and notes nothing.
    """
    words = judgement.words(writing.text).strip()
    if len(words) < SHORTEST:
        return 0
    key = signing.signing_key(runtime.settings.signing_keys)
    row_id = _digest(key, b"text", writing.site, words)
    # A person's digest differs from row to row, so rows together reveal nothing of the person.
    by = _digest(key, b"by", row_id, writing.user_id)
    made: TextMark = {
        "by": by,
        "thing": writing.thing,
        "at": runtime.now(),
    }
    marks = _note(runtime, row_id, made)
    own = next((each for each in marks if each["by"] == by), made)
    if _comment_of(own) != _comment_of(made):
        _check_gone(runtime, own)
        as_read = {"_id": row_id, "marks": {"$elemMatch": {**own}}}
        renewed = SEEN.of(runtime.database).update_one(as_read, {"$set": {"marks.$": made}})
        if not renewed.matched_count and not _has_mark(runtime, row_id, made):
            # Another call of the author has just posted the text.
            raise Duplicate
    return sum(each["by"] != by for each in marks)


def _has_mark(runtime: Runtime, row_id: str, made: TextMark) -> bool:
    """Return whether the author's mark is of the same comment: another try of the call made it."""
    row = SEEN.of(runtime.database).find_one({"_id": row_id})
    own = [each for each in row["marks"] if each["by"] == made["by"]] if row else []
    return all(_comment_of(each) == _comment_of(made) for each in own)


def _comment_of(mark: TextMark) -> str:
    """Return the id of a mark's comment; a move changes only the node's part of `thing`."""
    return mark["thing"].rpartition("/")[2]


def _note(runtime: Runtime, row_id: str, made: TextMark) -> list[TextMark]:
    """Add a mark unless its author has a mark or the row is full; return the former marks."""
    begin = made["at"] - KEPT
    had = {"$ifNull": ["$marks", []]}
    kept: Document = {"$filter": {"input": had, "cond": {"$gt": ["$$this.at", begin]}}}
    is_known = {"$in": [made["by"], "$marks.by"]}
    is_full = {"$gte": [{"$size": "$marks"}, MOST_MARKS]}
    added: Document = {"$concatArrays": ["$marks", [{"$literal": made}]]}
    # The loss of a mark in an election does no harm.
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


def _check_gone(runtime: Runtime, own: TextMark) -> None:
    """Raise Duplicate if the comment of a mark exists, or its call may be running."""
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
