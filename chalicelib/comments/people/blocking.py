"""Blocks: a reader's pages leave out the comments of people whom they blocked.

An account has one list for all sites and features (`chalicelib.people.blocks`). A person of one
site, such as a guest, has a list in their document there. An account can have such a list as well,
from release 0.3.0 or from `replace`; it counts at its site until `join` moves it.
"""

from collections.abc import Sequence

from pymongo import ASCENDING, ReturnDocument

from chalicelib.comments.entries.rows import ENTRIES
from chalicelib.comments.people import guests
from chalicelib.comments.people.rows import MAX_BLOCKED, PEOPLE, defaults, person_id
from chalicelib.database import Document, upsert
from chalicelib.errors import TooManyBlocked
from chalicelib.identity import Principal
from chalicelib.memory import remember
from chalicelib.people.blocks import BLOCKS, Apart
from chalicelib.people.ids import ONE_SITE_ID
from chalicelib.runtime import Runtime


@remember(seconds=5)
def blocked_by(runtime: Runtime, site: str, user_id: str) -> frozenset[str]:
    """Return the ids that a reader has blocked, as a site counts them, as of the last seconds."""
    return frozenset(read_list(runtime, site, user_id))


def read_list(runtime: Runtime, site: str, user_id: str) -> list[str]:
    """Return the ids that a reader has blocked, as a site counts them, sorted."""
    listed: Document = {"$project": {"blocked": 1}}
    of_person = {"coll": BLOCKS.name, "pipeline": [{"$match": {"_id": user_id}}, listed]}
    here: Document = {"$match": {"_id": person_id(site, user_id)}}
    rows = PEOPLE.of(runtime.database).aggregate([here, listed, {"$unionWith": of_person}])
    return sorted({each for row in rows for each in row.get("blocked", ())})


def find_blockers(
    runtime: Runtime, site: str, blocked: str, people: Sequence[str]
) -> frozenset[str]:
    """Return the ids of `people` who block a person at a site."""
    database = runtime.database
    here = {"_id": {"$in": [person_id(site, who) for who in people]}, "blocked": blocked}
    found = {row["user_id"] for row in PEOPLE.of(database).find(here, {"user_id": 1})}
    everywhere = {"_id": {"$in": list(people)}, "blocked": blocked}
    found |= {row["_id"] for row in BLOCKS.of(database).find(everywhere, {"_id": 1})}
    return frozenset(found)


def block(runtime: Runtime, apart: Apart, site: str, caller: Principal, user_id: str) -> None:
    """Block a person; a caller of one site blocks them there alone. Idempotent.

    Raises TooManyBlocked, and Unauthenticated for a guest whose past an account has.
    """
    if caller.site is None:
        apart.keep_apart(runtime, caller.id, user_id)
    else:
        _block_here(runtime, site, caller, user_id)
    blocked_by.forget(runtime, site, caller.id)


def _block_here(runtime: Runtime, site: str, caller: Principal, user_id: str) -> None:
    """Block a person at a site; at a site without comments, store nothing."""
    if ENTRIES.of(runtime.database).find_one({"site": site}, {"_id": 1}) is None:
        return
    guests.check_token(runtime, caller)
    had: Document = {"$ifNull": ["$blocked", []]}
    is_there, is_full = {"$in": [user_id, had]}, {"$gte": [{"$size": had}, MAX_BLOCKED]}
    added = {"$concatArrays": [had, [{"$literal": user_id}]]}
    blocked = {"$cond": [{"$or": [is_there, is_full]}, had, added]}
    made = defaults(site, caller.id, caller.name, runtime.now())
    after = PEOPLE.of(runtime.database).find_one_and_update(
        {"_id": person_id(site, caller.id)},
        [{"$set": {**made, "blocked": blocked}}],
        projection={"blocked": 1},
        upsert=True,
        return_document=ReturnDocument.AFTER,
    )
    if after is None or user_id not in after.get("blocked", []):
        raise TooManyBlocked


def unblock(runtime: Runtime, apart: Apart, site: str, caller: Principal, user_id: str) -> None:
    """Remove a block from the caller's list of the site, and from an account's list for all sites.

    Without a block, nothing changes.
    """
    key = {"_id": person_id(site, caller.id)}
    PEOPLE.of(runtime.database).update_one(key, {"$pull": {"blocked": user_id}})
    if caller.site is None:
        apart.let_meet(runtime, caller.id, user_id)
    blocked_by.forget(runtime, site, caller.id)


def replace(runtime: Runtime, site: str, owner: str, former: str, other: str) -> None:
    """Replace `former` by `other` in a person's list of a site; an owner never blocks themselves.

    Adds `other` even without `former`, and makes a missing list. The oldest block of a full list
    goes.
    """
    had: Document = {"$ifNull": ["$blocked", []]}
    others = {"$filter": {"input": had, "cond": {"$not": [{"$in": ["$$this", [former, other]]}]}}}
    added: Document = {"$concatArrays": [others, [] if owner == other else [other]]}
    blocked = {"$slice": [added, -MAX_BLOCKED]}
    made = defaults(site, owner, owner, runtime.now())
    update: list[Document] = [{"$set": {**made, "blocked": blocked}}]
    upsert(PEOPLE.of(runtime.database), {"_id": person_id(site, owner)}, update)


def join(runtime: Runtime, apart: Apart, after: str, most: int) -> list[str]:
    """Move up to `most` lists of sites, by id, after the id `after`, to the accounts' own lists.

    Returns the ids of the lists read. Lists of people of one site stay. If an account's own list is
    full, the rest of the site's list stays at the site. Idempotent.
    """
    people = PEOPLE.of(runtime.database)
    have_lists: Document = {"_id": {"$gt": after}, "blocked": {"$exists": True}}
    fields = {"user_id": 1, "blocked": 1}
    found = list(people.find(have_lists, fields).sort("_id", ASCENDING).limit(most))
    for person in found:
        if not ONE_SITE_ID.fullmatch(person["user_id"]):
            _join_list(runtime, apart, person["_id"], person["user_id"], person["blocked"])
    return [person["_id"] for person in found]


def _join_list(
    runtime: Runtime, apart: Apart, list_id: str, user_id: str, blocked: list[str]
) -> None:
    people = PEOPLE.of(runtime.database)
    for other in blocked:
        if people.find_one({"_id": list_id, "blocked": other}, {"_id": 1}) is None:
            # Unblocked since the read of the list.
            continue
        try:
            apart.keep_apart(runtime, user_id, other)
        except TooManyBlocked:
            return
        people.update_one({"_id": list_id}, {"$pull": {"blocked": other}})
    people.update_one({"_id": list_id, "blocked": []}, {"$unset": {"blocked": ""}})
