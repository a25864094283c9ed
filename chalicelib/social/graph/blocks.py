"""Blocks: a block ends the following both ways, and hides each user from the other.

A person has one list of blocks for all features (`chalicelib.people.blocks`). The user's document
has a copy of both directions, so the read of a reader's document also returns the blocks.
"""

from pymongo import ASCENDING
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.errors import TooManyBlocked
from chalicelib.people import blocks
from chalicelib.people.blocks import MAX_BLOCKED_BY
from chalicelib.runtime import Runtime
from chalicelib.social.errors import CannotBlockSelf, UnknownUser
from chalicelib.social.graph import memberships
from chalicelib.social.graph.users import USERS


def block(runtime: Runtime, owner_id: str, other_id: str) -> None:
    """Block another user, and end the following both ways; a second call changes nothing.

    Raises CannotBlockSelf, UnknownUser and TooManyBlocked.
    """
    if owner_id == other_id:
        raise CannotBlockSelf
    _part(runtime, owner_id, other_id, are_users=True)


def keep_apart(runtime: Runtime, owner_id: str, other_id: str) -> None:
    """Block a person for another feature; neither of the two needs to be a user.

    Ends the following both ways, as `block` does; a second call changes nothing. Raises
    TooManyBlocked.
    """
    _part(runtime, owner_id, other_id, are_users=False)


def _part(runtime: Runtime, owner_id: str, other_id: str, *, are_users: bool) -> None:
    def add(session: ClientSession) -> None:
        if not _copy(runtime, session, owner_id, other_id) and are_users:
            raise UnknownUser
        blocks.add(runtime, session, owner_id, other_id)

    memberships.part(runtime, owner_id, other_id, add)


def _copy(runtime: Runtime, session: ClientSession, owner_id: str, other_id: str) -> bool:
    """Add a block to the documents of both users, where they exist; return whether both exist.

    Raises TooManyBlocked if the list of either is full.
    """
    users, are_both = USERS.of(runtime.database), True
    sides = (
        (owner_id, "blocked", other_id, runtime.bounds.social.blocked),
        (other_id, "blocked_by", owner_id, MAX_BLOCKED_BY),
    )
    for user_id, field, them, most in sides:
        has_room = [{field: them}, {f"{field}.{most - 1}": {"$exists": False}}]
        change = {"$addToSet": {field: them}}
        this: Document = {"_id": user_id}
        if users.update_one({**this, "$or": has_room}, change, session=session).matched_count:
            continue
        if users.find_one(this, {"_id": 1}, session=session):
            raise TooManyBlocked
        are_both = False
    return are_both


def let_meet(runtime: Runtime, owner_id: str, other_id: str) -> None:
    """End a block; the following does not come back. Without a block, nothing changes."""
    users = USERS.of(runtime.database)

    def work(session: ClientSession) -> None:
        users.update_one({"_id": owner_id}, {"$pull": {"blocked": other_id}}, session=session)
        users.update_one({"_id": other_id}, {"$pull": {"blocked_by": owner_id}}, session=session)
        blocks.remove(runtime, session, owner_id, other_id)

    in_transaction(runtime.database, work)


def join(runtime: Runtime, after: str, most: int) -> list[str]:
    """Add the blocks in users' documents to the people's lists for all features.

    Handles up to `most` users with blocks, by id, after the id `after`; returns their ids. A second
    call changes nothing.
    """
    users = USERS.of(runtime.database)
    have_blocked: Document = {"_id": {"$gt": after}, "blocked.0": {"$exists": True}}
    rows = users.find(have_blocked, {"_id": 1}).sort("_id", ASCENDING).limit(most)
    found = [row["_id"] for row in rows]
    for user_id in found:
        _join_list(runtime, user_id)
    return found


def _join_list(runtime: Runtime, user_id: str) -> None:
    def work(session: ClientSession) -> None:
        own = {"_id": user_id}
        found = USERS.of(runtime.database).find_one(own, {"blocked": 1}, session=session)
        if found is not None and found["blocked"]:
            blocks.take_in(runtime, session, user_id, found["blocked"])

    in_transaction(runtime.database, work)


def among(database: Database[Document], owner_id: str, others: set[str]) -> frozenset[str]:
    """Return the ids among `others` that a user has blocked."""
    fields = {"blocked": {"$setIntersection": ["$blocked", list(others)]}}
    owner = USERS.of(database).find_one({"_id": owner_id}, fields)
    return frozenset(owner["blocked"] if owner else ())
