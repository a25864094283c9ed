"""Blocks: a block ends the following both ways, and hides each user from the other.

`blocked_by` mirrors `blocked` on the other side, so that a reader's own document has both.
"""

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.runtime import Runtime
from chalicelib.social.errors import CannotBlockSelf, TooManyBlockedUsers, UnknownUser
from chalicelib.social.graph import memberships
from chalicelib.social.graph.users import MAX_BLOCKED_BY, USERS


def block(runtime: Runtime, owner_id: str, other_id: str) -> None:
    """Block another user, and end the following both ways; a second call changes nothing.

    Raises CannotBlockSelf, UnknownUser and TooManyBlockedUsers.
    """
    if owner_id == other_id:
        raise CannotBlockSelf

    def add(session: ClientSession) -> None:
        _add(runtime, session, owner_id, other_id)

    memberships.part(runtime, owner_id, other_id, add)


def _add(runtime: Runtime, session: ClientSession, owner_id: str, other_id: str) -> None:
    users = USERS.of(runtime.database)
    sides = (
        (owner_id, "blocked", other_id, runtime.bounds.social.blocked),
        (other_id, "blocked_by", owner_id, MAX_BLOCKED_BY),
    )
    for user_id, field, them, most in sides:
        if not users.find_one({"_id": user_id}, {"_id": 1}, session=session):
            raise UnknownUser
        is_full = {"_id": user_id, f"{field}.{most - 1}": {"$exists": True}, field: {"$ne": them}}
        if users.find_one(is_full, {}, session=session):
            raise TooManyBlockedUsers
        users.update_one({"_id": user_id}, {"$addToSet": {field: them}}, session=session)


def unblock(database: Database[Document], owner_id: str, other_id: str) -> None:
    """End a block; the following does not come back. Without one, nothing changes."""
    users = USERS.of(database)

    def work(session: ClientSession) -> None:
        users.update_one({"_id": owner_id}, {"$pull": {"blocked": other_id}}, session=session)
        users.update_one({"_id": other_id}, {"$pull": {"blocked_by": owner_id}}, session=session)

    in_transaction(database, work)


def among(database: Database[Document], owner_id: str, others: set[str]) -> frozenset[str]:
    """Return the others that a user has blocked."""
    fields = {"blocked": {"$setIntersection": ["$blocked", list(others)]}}
    owner = USERS.of(database).find_one({"_id": owner_id}, fields)
    return frozenset(owner["blocked"] if owner else ())
