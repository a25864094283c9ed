"""Bringing a post to its audience, whatever crashes on the way.

The post itself is the memory. A worker takes it on a lease, cuts its audience into chunks,
writes each chunk down before it sends its message, and so moves the cursor; each chunk marks
itself done; the last one ends the fan-out. A worker that dies lets its lease run out: the
sweep then sends a message, and the next one goes on from the cursor and repeats what is
missing. Every step may be repeated, since items have deterministic ids and walls know what
they hold.
"""

from datetime import datetime, timedelta
from typing import Any

from pymongo import ASCENDING, ReturnDocument

from chalicelib.database import Document
from chalicelib.ids import new_id
from chalicelib.logs import log
from chalicelib.runtime import Runtime
from chalicelib.social import audiences, news, spreading, users, walls
from chalicelib.social.graph_store import IdRange
from chalicelib.social.messages import Deliver, DeliverChunk
from chalicelib.social.models import COMMENTS_SHOWN
from chalicelib.social.posts import UNFINISHED, collection

CHUNK_READERS = 1_000
MAX_ATTEMPTS = 5
_SWEPT_AT_ONCE = 1_000


def handle(runtime: Runtime, message: Deliver | DeliverChunk) -> None:
    """Do what a message asks; a failure is noted on the post and raised again."""
    try:
        if isinstance(message, Deliver):
            deliver(runtime, message.post_id)
        else:
            deliver_chunk(runtime, message.post_id, message.number)
    except Exception as error:
        collection(runtime.database).update_one(
            {"_id": message.post_id}, {"$set": {"fan_out.reason": type(error).__name__}}
        )
        raise


def deliver(runtime: Runtime, post_id: str) -> None:
    """Cut the rest of the audience into chunks and send those that are not done.

    Nothing happens where another worker holds the lease, or where all is done.
    """
    owner = new_id(runtime.now(), runtime.random)
    post = _claim(runtime, post_id, owner)
    if post is None:
        return
    fan_out = post["fan_out"]
    if fan_out["attempts"] > MAX_ATTEMPTS:
        _fail(runtime, post_id, owner)
        return
    _choose_to_pull(runtime, post)
    unfinished = set(range(len(fan_out["chunks"]))).difference(fan_out["chunks_done"])
    runtime.queues.send(*(DeliverChunk(post_id=post_id, number=each) for each in unfinished))
    _plan(runtime, post, owner)
    _finish(runtime, post_id)


def _claim(runtime: Runtime, post_id: str, owner: str) -> Document | None:
    """Take the lease if the post is new or its lease has run out; count the attempt."""
    now = runtime.now()
    expired = {"fan_out.state": "delivering", "fan_out.expires_at": {"$lte": now}}
    lease = {
        "fan_out.state": "delivering",
        "fan_out.owner": owner,
        "fan_out.expires_at": _lease_end(runtime, now),
    }
    return collection(runtime.database).find_one_and_update(
        {"_id": post_id, "$or": [{"fan_out.state": "pending"}, expired]},
        {"$set": lease, "$inc": {"fan_out.attempts": 1}},
        projection={"by": 1, "circles": 1, "audience": 1, "fan_out": 1},
        return_document=ReturnDocument.AFTER,
    )


def _fail(runtime: Runtime, post_id: str, owner: str) -> None:
    """Give a post up; the reason is the last failure's, which staff can read."""
    failed = collection(runtime.database).find_one_and_update(
        {"_id": post_id, "fan_out.owner": owner},
        [
            {
                "$set": {
                    "fan_out.state": "failed",
                    "fan_out.reason": {"$ifNull": ["$fan_out.reason", "workers ended unheard"]},
                }
            }
        ],
        projection={"fan_out.reason": 1},
        return_document=ReturnDocument.AFTER,
    )
    if failed:
        fields = {"post": post_id, "reason": failed["fan_out"]["reason"]}
        log.error("fan-out failed", extra={"fields": fields})


def _choose_to_pull(runtime: Runtime, post: Document) -> None:
    """Leave a post of too large an audience to its readers, who then find it where it is.

    What was begun is ended as it was begun, wherever the line is by then. The author is marked
    first: readers look for such posts with marked authors alone.
    """
    fan_out, line = post["fan_out"], runtime.settings.pull_audience
    if fan_out["chunks"] or not audiences.is_above(runtime.database, post, line):
        return
    people = users.collection(runtime.database)
    people.update_one({"_id": post["by"]["id"]}, {"$set": {"pulled": True}})
    fan_out["pull"] = (
        collection(runtime.database)
        .update_one(
            {"_id": post["_id"], "fan_out.owner": fan_out["owner"], "fan_out.chunks": []},
            {"$set": {"fan_out.pull": True}},
        )
        .matched_count
        == 1
    )


def _plan(runtime: Runtime, post: Document, owner: str) -> None:
    """Write down and send chunk after chunk, from the cursor to the audience's end.

    There is always a first chunk, which brings the post to its walls.
    """
    fan_out = post["fan_out"]
    cursor, number, planned = fan_out["cursor"], len(fan_out["chunks"]), fan_out["planned"]
    while not planned:
        ids = _audience(runtime, post, IdRange(cursor, limit=CHUNK_READERS))
        planned = len(ids) < CHUNK_READERS
        if not ids and number:
            _record(runtime, post["_id"], owner, None, planned=True)
            return
        chunk = {"after": cursor, "until": ids[-1] if ids else cursor, "size": len(ids)}
        if not _record(runtime, post["_id"], owner, chunk, planned=planned):
            return
        runtime.queues.send(DeliverChunk(post_id=post["_id"], number=number))
        cursor, number = chunk["until"], number + 1


def _audience(runtime: Runtime, post: Document, ids: IdRange) -> list[str]:
    return [] if post["fan_out"]["pull"] else audiences.of(runtime.database, post, ids)


def _record(
    runtime: Runtime, post_id: str, owner: str, chunk: dict[str, Any] | None, *, planned: bool
) -> bool:
    """Write a chunk down and move the cursor; False if the lease is another worker's by now."""
    recorded = collection(runtime.database).update_one(
        {"_id": post_id, "fan_out.owner": owner, "fan_out.state": "delivering"},
        {
            "$push": {"fan_out.chunks": {"$each": [chunk] if chunk else []}},
            "$set": {
                **({"fan_out.cursor": chunk["until"]} if chunk else {}),
                "fan_out.planned": planned,
                **_progress(runtime),
            },
        },
    )
    return recorded.matched_count == 1


def deliver_chunk(runtime: Runtime, post_id: str, number: int) -> None:
    """Bring the post to one chunk of its audience, the first one also to its walls.

    Readers who have not been seen for long are left out.
    """
    post = collection(runtime.database).find_one(
        {"_id": post_id}, {"comments": {"$slice": -COMMENTS_SHOWN}}
    )
    if post is None or post["deleted"] or number in post["fan_out"]["chunks_done"]:
        return
    chunk = post["fan_out"]["chunks"][number]
    ids = _audience(runtime, post, IdRange(chunk["after"], chunk["until"]))
    readers = news.present(runtime.database, ids, runtime.now())
    news.design(runtime).add([post], readers)
    if number == 0:
        _put_on_walls(runtime, post)
    marked = _mark_done(runtime, post_id, number, _unchanged(post))
    if marked is None:
        # A change that came after the post was read may have been spread before it was copied.
        spreading.mend(runtime, [post])
        marked = _mark_done(runtime, post_id, number, {})
    if marked:
        _finish(runtime, post_id)


def _unchanged(post: Document) -> Document:
    return {"deleted": False, "spread.version": post["spread"]["version"]}


def _put_on_walls(runtime: Runtime, post: Document) -> None:
    """Copy the post to its author's wall and to the one that it was written to."""
    author, owner = post["by"]["id"], post["wall"]
    if owner != author:
        # Who may see the post on their own wall may see it in their news.
        news.design(runtime).add([post], [owner])
    walls.design(runtime).add([post], sorted({author, owner}))


def _mark_done(runtime: Runtime, post_id: str, number: int, also: Document) -> bool | None:
    """Note that a chunk is done, and tell whether it was the last one; None if it could not be.

    One that comes late revives a fan-out that was given up.
    """
    marked = collection(runtime.database).find_one_and_update(
        {"_id": post_id, "fan_out.state": {"$in": ["delivering", "failed"]}, **also},
        {
            "$addToSet": {"fan_out.chunks_done": number},
            "$set": {"fan_out.state": "delivering", **_progress(runtime)},
        },
        projection={"fan_out.planned": 1, "fan_out.chunks_done": 1, "fan_out.chunks.size": 1},
        return_document=ReturnDocument.AFTER,
    )
    if marked is None:
        return None
    fan_out = marked["fan_out"]
    return bool(fan_out["planned"]) and len(fan_out["chunks"]) == len(fan_out["chunks_done"])


def _finish(runtime: Runtime, post_id: str) -> None:
    """End the fan-out if the audience is planned to its end and every chunk is done.

    The bounds of the chunks are readers' ids, which nobody needs any more.
    """
    sizes = [{"$size": "$fan_out.chunks"}, {"$size": "$fan_out.chunks_done"}]
    collection(runtime.database).update_one(
        {
            "_id": post_id,
            "fan_out.state": "delivering",
            "fan_out.planned": True,
            "$expr": {"$eq": sizes},
        },
        {
            "$set": {"fan_out.state": "done", "fan_out.reason": None, "fan_out.cursor": ""},
            "$unset": {f"fan_out.chunks.$[].{bound}": "" for bound in ("after", "until")},
        },
    )


def sweep(runtime: Runtime) -> None:
    """Send a message for every unfinished fan-out whose lease, or first message, ran out."""
    forgotten = (
        collection(runtime.database)
        .find(
            {
                "fan_out.state": {"$in": list(UNFINISHED)},
                "fan_out.expires_at": {"$lte": runtime.now()},
            },
            {"_id": 1},
        )
        .sort("fan_out.expires_at", ASCENDING)
        .limit(_SWEPT_AT_ONCE)
    )
    runtime.queues.send(*(Deliver(post_id=post["_id"]) for post in forgotten))


def _progress(runtime: Runtime) -> Document:
    """Return what every step forward sets: a new lease, and the attempts to be counted anew."""
    return {"fan_out.expires_at": _lease_end(runtime, runtime.now()), "fan_out.attempts": 0}


def _lease_end(runtime: Runtime, now: datetime) -> datetime:
    return now + timedelta(milliseconds=runtime.settings.lease_ms)
