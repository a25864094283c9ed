"""Blocks: a reader's pages at a site leave out the comments of people whom they blocked."""

from datetime import timedelta

from pymongo import ReturnDocument

from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.errors import TooManyBlocked
from chalicelib.comments.people.rows import MAX_BLOCKED, PEOPLE, defaults, person_id
from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime

# The greatest age of a reader's list, in containers other than the container that changed it.
REMEMBERED = timedelta(seconds=5)


def blocked_by(runtime: Runtime, site: str, user_id: str) -> frozenset[str]:
    """Return the ids that a reader has blocked at a site, as of the last seconds."""

    def read() -> frozenset[str]:
        return frozenset(read_list(runtime, site, user_id))

    return runtime.memory.recall(_key(site, user_id), runtime.now(), REMEMBERED, read)


def read_list(runtime: Runtime, site: str, user_id: str) -> list[str]:
    """Return the ids that a reader has blocked at a site, in their order."""
    key = {"_id": person_id(site, user_id)}
    found = PEOPLE.of(runtime.database).find_one(key, {"blocked": 1})
    return sorted(found.get("blocked", [])) if found else []


def block(runtime: Runtime, site: str, caller: Principal, user_id: str) -> None:
    """Block a person at a site; idempotent. Raises TooManyBlocked.

    A site without comments has no people: nothing is stored there.
    """
    if ENTRIES.of(runtime.database).find_one({"site": site}, {"_id": 1}) is None:
        return
    had: Document = {"$ifNull": ["$blocked", []]}
    is_there, is_full = {"$in": [user_id, had]}, {"$gte": [{"$size": had}, MAX_BLOCKED]}
    added = {"$concatArrays": [had, [{"$literal": user_id}]]}
    blocked = {"$cond": [{"$or": [is_there, is_full]}, had, added]}
    after = PEOPLE.of(runtime.database).find_one_and_update(
        {"_id": person_id(site, caller.id)},
        [{"$set": {**defaults(site, caller.id, caller.name), "blocked": blocked}}],
        projection={"blocked": 1},
        upsert=True,
        return_document=ReturnDocument.AFTER,
    )
    runtime.memory.forget(_key(site, caller.id))
    if after is None or user_id not in after.get("blocked", []):
        raise TooManyBlocked


def unblock(runtime: Runtime, site: str, caller: Principal, user_id: str) -> None:
    """Remove a block; without a block, nothing changes."""
    key = {"_id": person_id(site, caller.id)}
    PEOPLE.of(runtime.database).update_one(key, {"$pull": {"blocked": user_id}})
    runtime.memory.forget(_key(site, caller.id))


def _key(site: str, user_id: str) -> str:
    return f"comments.blocked {person_id(site, user_id)}"
