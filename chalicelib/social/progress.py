"""How far fan-outs have come, and those that failed, for authors and staff."""

from typing import Any

from pymongo import ASCENDING
from pymongo.database import Database

from chalicelib.cursors import decode_cursor, encode_cursor
from chalicelib.database import Document
from chalicelib.errors import Forbidden, NotFailed, UnknownPost
from chalicelib.http import PageQuery
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social import posts
from chalicelib.social.messages import Deliver

_FAILED_SCOPE = "failed-fan-outs"


def of(database: Database[Document], post_id: str, caller: Principal) -> dict[str, Any]:
    """Return how far a post's fan-out has come, for its author and for staff.

    `delivered` and `total` count readers. Raises UnknownPost, and Forbidden for those who
    may see the post but not this.
    """
    post = posts.collection(database).find_one({"_id": post_id, "deleted": False})
    if post is None:
        raise UnknownPost
    is_staff = caller.has("moderator")
    if caller.id != post["by"]["id"] and not is_staff:
        posts.find_visible(database, post_id, caller.id)
        raise Forbidden("A fan-out is shown to the post's author and to moderators")
    answer = _answer(post["fan_out"])
    return {**answer, "reason": post["fan_out"]["reason"]} if is_staff else answer


def _answer(fan_out: Document) -> dict[str, Any]:
    sizes = [chunk["size"] for chunk in fan_out["chunks"]]
    return {
        "state": fan_out["state"],
        "delivered": sum(sizes[number] for number in fan_out["chunks_done"]),
        "total": sum(sizes),
    }


def failed(runtime: Runtime, query: PageQuery) -> dict[str, Any]:
    """Return a page of the fan-outs that were given up: `{fan_outs, next}`."""
    keys = runtime.settings.signing_keys
    after = decode_cursor(query.cursor, _FAILED_SCOPE, keys)[0] if query.cursor else ""
    where: Document = {"fan_out.state": "failed", "_id": {"$gt": after}}
    fields = {"by": 1, "fan_out": 1}
    rows = posts.collection(runtime.database).find(where, fields).sort("_id", ASCENDING)
    found = list(rows.limit(query.limit + 1))
    page = found[: query.limit]
    last = [page[-1]["_id"]] if len(found) > len(page) else None
    answers = [
        {
            "post": post["_id"],
            "by": post["by"],
            **_answer(post["fan_out"]),
            "reason": post["fan_out"]["reason"],
        }
        for post in page
    ]
    following = encode_cursor(last, _FAILED_SCOPE, keys) if last else None
    return {"fan_outs": answers, "next": following}


def retry(runtime: Runtime, post_id: str) -> None:
    """Have a fan-out that was given up go on from where it stood.

    Raises UnknownPost, and NotFailed for one that was not given up.
    """
    revived = posts.collection(runtime.database).update_one(
        {"_id": post_id, "fan_out.state": "failed"},
        {
            "$set": {
                "fan_out.state": "pending",
                "fan_out.attempts": 0,
                "fan_out.reason": None,
                "fan_out.expires_at": posts.lease_end(runtime),
            }
        },
    )
    if revived.matched_count:
        runtime.queues.send(Deliver(post_id=post_id))
    elif posts.find_all(runtime.database, [post_id]):
        raise NotFailed
    else:
        raise UnknownPost
