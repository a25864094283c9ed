"""Putting people into circles, taking them out, and counting followers.

A pair is kept by the stores of both its users, changed in one transaction that always writes
the owner's document. Every other change of the owner's circles, such as deleting a circle, a
block or a promotion, conflicts with it there and is tried again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social.errors import CannotCircle, CannotCircleSelf, UnknownCircle, UnknownUser
from chalicelib.social.graph import promotion
from chalicelib.social.graph.circle_keys import id_of, key_of
from chalicelib.social.graph.following import stores
from chalicelib.social.graph.store import GraphPerson, Pair, StoreName
from chalicelib.social.graph.stores.edges import EdgeGraph
from chalicelib.social.graph.users import USERS, FollowCounts, User
from chalicelib.social.messages import BackFill

_PERSON = {"name": 1, "graph_store": 1, "counts": 1}


class _Person(TypedDict):
    """A user's document as `_PERSON` reads it."""

    _id: str
    name: str
    graph_store: StoreName
    counts: FollowCounts


@dataclass(frozen=True)
class _Change:
    """A change of the owner's circles that a member is in, by the circles' keys.

    `joining` is the id of a circle to join, if any.
    """

    owner_id: str
    member_id: str
    keeps: Callable[[str], bool]
    joining: str | None = None

    def of(self, before: frozenset[str], owner: User) -> frozenset[str]:
        """Return the keys afterwards; `owner` has the circle that is joined."""
        kept = frozenset(key for key in before if self.keeps(key))
        if self.joining is None:
            return kept
        return kept | {key_of(self.joining, owner["circles"][self.joining])}


class _Outgrown(Exception):
    """A user has as many members or followers as a document may hold."""

    def __init__(self, user_id: str) -> None:
        super().__init__(user_id)
        self.user_id = user_id


def add_member(runtime: Runtime, owner_id: str, circle_id: str, member_id: str) -> None:
    """Put somebody into a circle, and so follow them; doing so twice changes nothing.

    A user who has outgrown the embedded store is promoted first. Raises CannotCircleSelf,
    UnknownUser, UnknownCircle, and CannotCircle if one of the two blocks the other.
    """
    if owner_id == member_id:
        raise CannotCircleSelf
    joining = _Change(owner_id, member_id, lambda _key: True, circle_id)
    while True:
        try:
            changed = _make(runtime, joining)
        except _Outgrown as outgrown:
            promotion.promote(runtime, outgrown.user_id)
        else:
            break
    runtime.queues.send(*(job for pair in changed for job in _back_fills(pair)))


def remove_member(runtime: Runtime, owner_id: str, circle_id: str, member_id: str) -> None:
    """Take somebody out of a circle; leaving the last one ends the following.

    Does nothing if they are not in it.
    """
    _make(runtime, _Change(owner_id, member_id, lambda key: id_of(key) != circle_id))


def end_following(runtime: Runtime, owner_id: str, member_id: str) -> None:
    """Take somebody out of all of a user's circles."""
    _make(runtime, _ending(owner_id, member_id))


def part(runtime: Runtime, one: str, other: str, first: Callable[[ClientSession], None]) -> None:
    """End the following of two users both ways, in one transaction that begins with `first`."""
    _make(runtime, _ending(one, other), _ending(other, one), first=first)


def _ending(owner_id: str, member_id: str) -> _Change:
    return _Change(owner_id, member_id, lambda _key: False)


def _make(
    runtime: Runtime,
    *changes: _Change,
    first: Callable[[ClientSession], None] = lambda _session: None,
) -> list[Pair]:
    """Make changes in one transaction; return the pairs that have changed."""

    def work(session: ClientSession) -> list[tuple[Pair, StoreName]]:
        first(session)
        made = (_make_within(runtime, change, session) for change in changes)
        return [each for each in made if each]

    changed = in_transaction(runtime.database, work)
    for pair, member_store in changed:
        if member_store == "edges":
            # Outside, since one document cannot take everyone who circles a celebrity at once.
            count_followers(runtime.database, [pair.member.id], _followers_change(pair))
    return [pair for pair, _member_store in changed]


def _make_within(
    runtime: Runtime, change: _Change, session: ClientSession
) -> tuple[Pair, StoreName] | None:
    """Make a change; return the pair and the store of its member, or None if nothing changed."""
    owner, member = _both(runtime.database, change, session)
    if owner is None or member is None:
        return None
    store = stores(runtime.database)[owner["graph_store"]]
    before = store.circles(change.owner_id, change.member_id, session)
    people = GraphPerson(owner["_id"], owner["name"]), GraphPerson(member["_id"], member["name"])
    pair = Pair(*people, before, change.of(before, owner), runtime.now())
    if pair.after == pair.before:
        return None
    _check_room(runtime.bounds.social.embedded_max, pair, owner, member)
    _write(runtime.database, pair, owner, member, session)
    for job in _back_fills(pair):
        outbox.note(runtime, job, session)
    return pair, member["graph_store"]


def _both(
    database: Database[Document], change: _Change, session: ClientSession
) -> tuple[User | None, _Person | None]:
    """Return an owner of circles and another user; raises what `_check_may_join` does."""
    users, joining = USERS.of(database), change.joining
    about = {**_PERSON, f"circles.{joining}.key": 1} if joining else _PERSON
    owner = users.find_one({"_id": change.owner_id}, about, session=session)
    member = users.find_one({"_id": change.member_id}, _PERSON, session=session)
    if joining:
        _check_may_join(database, owner, member, joining, session)
    return owner, member


def _check_may_join(
    database: Database[Document],
    owner: User | None,
    member: _Person | None,
    circle_id: str,
    session: ClientSession,
) -> None:
    """Raise UnknownUser, UnknownCircle or CannotCircle if a member cannot join a circle."""
    if member is None:
        raise UnknownUser
    if owner is None or circle_id not in owner["circles"]:
        raise UnknownCircle
    blocks = {"$or": [{"blocked": member["_id"]}, {"blocked_by": member["_id"]}]}
    if USERS.of(database).find_one({"_id": owner["_id"], **blocks}, {}, session=session):
        raise CannotCircle


def _check_room(most: int, pair: Pair, owner: _Person, member: _Person) -> None:
    """Raise _Outgrown for a user whose document may hold no more."""
    if len(pair.after) < len(pair.before):
        return
    if owner["graph_store"] == "embedded" and owner["counts"]["memberships"] >= most:
        raise _Outgrown(pair.owner.id)
    is_new = not pair.before and member["graph_store"] == "embedded"
    if is_new and member["counts"]["followers"] >= most:
        raise _Outgrown(pair.member.id)


def _write(
    database: Database[Document],
    pair: Pair,
    owner: _Person,
    member: _Person,
    session: ClientSession,
) -> None:
    following = _followers_change(pair)
    memberships = len(pair.after) - len(pair.before)
    counts = {"counts.memberships": memberships, "counts.following": following}
    # Whatever store the owner has: changes of the owner's circles conflict here.
    users = USERS.of(database)
    users.update_one({"_id": pair.owner.id}, {"$inc": counts}, session=session)
    for name, store in stores(database).items():
        kept = {"owner": owner["graph_store"] == name, "member": member["graph_store"] == name}
        store.write(pair, session, **kept)
    if member["graph_store"] == "embedded" and following:
        change = {"$inc": {"counts.followers": following}}
        users.update_one({"_id": pair.member.id}, change, session=session)


def _followers_change(pair: Pair) -> int:
    return int(bool(pair.after)) - int(bool(pair.before))


def _back_fills(pair: Pair) -> list[BackFill]:
    """Return the jobs after joining: the member's posts, and the owner's to that circle."""
    if not pair.after - pair.before:
        return []
    owner, member = pair.owner.id, pair.member.id
    to_owner = [] if pair.before else [BackFill(reader_id=owner, author_id=member)]
    return [*to_owner, BackFill(reader_id=member, author_id=owner)]


def count_followers(database: Database[Document], user_ids: list[str], change: int) -> None:
    """Count followers of promoted users; a crash before it is repaired by `recount`."""
    if user_ids and change:
        promoted = {"_id": {"$in": user_ids}, "graph_store": "edges"}
        USERS.of(database).update_many(promoted, {"$inc": {"counts.followers": change}})


def recount(database: Database[Document]) -> int:
    """Recount the followers of every promoted user; return how many counts were wrong."""
    users, wrong = USERS.of(database), 0
    for user in users.find({"graph_store": "edges"}, {"counts": 1}):
        followers = EdgeGraph(database).count_followers(user["_id"])
        counted = {"counts.followers": followers}
        if user["counts"]["followers"] != followers:
            # Only if nobody was circled since it was read.
            where = {"_id": user["_id"], "counts": user["counts"]}
            wrong += users.update_one(where, {"$set": counted}).modified_count
    return wrong
