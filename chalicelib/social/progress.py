"""How far fan-outs have come, and those that failed, for authors and staff."""

from collections.abc import Mapping
from typing import Any

from pymongo import ASCENDING
from pymongo.database import Database

from chalicelib.cursors import decode_cursor, encode_cursor
from chalicelib.database import Document
from chalicelib.errors import Forbidden, NotFailed, UnknownPost
from chalicelib.http import PageQuery
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social import delivery, fan_out, posts


def of(database: Database[Document], post_id: str, caller: Principal) -> dict[str, Any]:
    """Return how far a post's fan-out has come, for its author and for staff.

    Raises UnknownPost, and Forbidden for those who may see the post but not this.
    """
    post = posts.collection(database).find_one({"_id": post_id, "deleted": False})
    if post is None:
        raise UnknownPost
    is_staff = caller.has("moderator")
    if caller.id != post["by"]["id"] and not is_staff:
        posts.find_visible(database, post_id, caller.id)
        raise Forbidden("A fan-out is shown to the post's author and to moderators")
    return for_staff(post["fan_out"]) if is_staff else answer_of(post["fan_out"])


def answer_of(stored: Document) -> dict[str, Any]:
    """Return a stored fan-out as `{state, delivered, total}`, the latter two in readers."""
    sizes = [chunk["size"] for chunk in stored["chunks"]]
    return {
        "state": stored["state"],
        "delivered": sum(sizes[number] for number in stored["chunks_done"]),
        "total": sum(sizes),
    }


def for_staff(stored: Document) -> dict[str, Any]:
    """Return a stored fan-out as `{state, delivered, total, reason}`."""
    return {**answer_of(stored), "reason": stored["reason"]}


def failed(runtime: Runtime, query: PageQuery) -> dict[str, Any]:
    """Return a page of the posts' fan-outs that were given up: `{fan_outs, next}`."""
    return failed_of(runtime, posts.POSTS.name, {"post": "_id", "by": "by"}, query)


def failed_of(
    runtime: Runtime, collection: str, named: Mapping[str, str], query: PageQuery
) -> dict[str, Any]:
    """Return a page of a collection's fan-outs that were given up: `{fan_outs, next}`.

    `named` maps what an answer calls its document's fields to the fields.
    """
    scope, keys = f"failed:{collection}", runtime.settings.signing_keys
    after = decode_cursor(query.cursor, scope, keys)[0] if query.cursor else ""
    where: Document = {"fan_out.state": "failed", "_id": {"$gt": after}}
    rows = runtime.database[collection].find(where, [*named.values(), "fan_out"])
    found = list(rows.sort("_id", ASCENDING).limit(query.limit + 1))
    page = found[: query.limit]
    last = [page[-1]["_id"]] if len(found) > len(page) else None
    answers = [
        {**{name: row[field] for name, field in named.items()}, **for_staff(row["fan_out"])}
        for row in page
    ]
    return {"fan_outs": answers, "next": encode_cursor(last, scope, keys) if last else None}


def retry(runtime: Runtime, post_id: str) -> None:
    """Have a post's fan-out that was given up go on from where it stood.

    Raises UnknownPost, and NotFailed for one that was not given up.
    """
    if delivery.retry(runtime, fan_out.OF_POSTS, post_id):
        return
    raise NotFailed if posts.find_all(runtime.database, [post_id]) else UnknownPost
