"""Joining and leaving circles, and counts of followers.

The stores of the owner and of the member both have a pair. One transaction changes both stores,
and always writes the owner's document. A concurrent change of the owner's circles (a deletion, a
block, a promotion) writes the same document, conflicts, and tries again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict

from pymongo import ASCENDING
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib import deadlines
from chalicelib.database import Document, in_transaction
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social import telling
from chalicelib.social.errors import CannotCircle, CannotCircleSelf, UnknownCircle, UnknownUser
from chalicelib.social.graph import promotion
from chalicelib.social.graph.circle_keys import id_of, key_of
from chalicelib.social.graph.following import stores
from chalicelib.social.graph.store import GraphPerson, Pair, StoreName
from chalicelib.social.graph.stores.edges import EdgeGraph
from chalicelib.social.graph.users import USERS, FollowCounts, User
from chalicelib.social.messages import BackFill, NotifyFeed

_RECOUNTED_AT_ONCE = 1_000
_PERSON = {"name": 1, "graph_store": 1, "counts": 1}


class _Person(TypedDict):
    """A user's document as `_PERSON` reads it."""

    _id: str
    name: str
    graph_store: StoreName
    counts: FollowCounts


@dataclass(frozen=True)
class _Change:
    """A change of a member's memberships in the circles of one owner.

    `keeps(key)` returns whether the member stays in a circle. `joining` is the id of the circle to
    join. None: the member joins no circle.
    """

    owner_id: str
    member_id: str
    keeps: Callable[[str], bool]
    joining: str | None = None

    def of(self, before: frozenset[str], owner: User) -> frozenset[str]:
        """Return the keys of the circles after the change; `owner` has the circle to join."""
        kept = frozenset(key for key in before if self.keeps(key))
        if self.joining is None:
            return kept
        return kept | {key_of(self.joining, owner["circles"][self.joining])}


class _Outgrown(Exception):
    """A user's document has no room for another member or follower."""

    def __init__(self, user_id: str) -> None:
        super().__init__(user_id)
        self.user_id = user_id


def add_member(runtime: Runtime, owner_id: str, circle_id: str, member_id: str) -> None:
    """Add a user to a circle, and so follow the user; a second call changes nothing.

    Promotes either user first if that user's document is full. Raises CannotCircleSelf,
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
    """Remove a member from a circle; if the owner has the member in no other, end the following.

    If the circle does not have the member, nothing changes.
    """
    _make(runtime, _Change(owner_id, member_id, lambda key: id_of(key) != circle_id))


def end_following(runtime: Runtime, owner_id: str, member_id: str) -> None:
    """Remove a member from all circles of a user."""
    _make(runtime, _leaving_all(owner_id, member_id))


def part(runtime: Runtime, one: str, other: str, first: Callable[[ClientSession], None]) -> None:
    """End the following both ways between two users, in a transaction that begins with `first`."""
    _make(runtime, _leaving_all(one, other), _leaving_all(other, one), first=first)


def _leaving_all(owner_id: str, member_id: str) -> _Change:
    return _Change(owner_id, member_id, lambda _key: False)


def _make(
    runtime: Runtime,
    *changes: _Change,
    first: Callable[[ClientSession], None] = lambda _session: None,
) -> list[Pair]:
    """Make changes in one transaction; return the changed pairs.

    Afterwards, update the counts of promoted members, and send the jobs of ended ties.
    """

    def work(session: ClientSession) -> list[tuple[Pair, StoreName]]:
        first(session)
        made = (_make_within(runtime, change, session) for change in changes)
        return [each for each in made if each]

    changed = in_transaction(runtime.database, work)
    for pair, member_store in changed:
        if member_store == "edges":
            # Outside the transaction: all followers of a celebrity would conflict on one document.
            count_followers(runtime.database, [pair.member.id], _followers_change(pair))
    telling.send(runtime, *(_act_of(pair) for pair, _ in changed if not pair.after))
    return [pair for pair, _member_store in changed]


def _make_within(
    runtime: Runtime, change: _Change, session: ClientSession
) -> tuple[Pair, StoreName] | None:
    """Make a change; return the pair and the store of its member, or None if nothing changed."""
    owner, member = _find_both(runtime.database, change, session)
    if owner is None:
        return None
    if member is None:
        # The erasure of the member did not wait for `owner`, who began to follow meanwhile: a
        # promoted member's document names no followers.
        none = FollowCounts(followers=0, following=0, circles=0, memberships=0)
        member = _Person(_id=change.member_id, name="", graph_store="edges", counts=none)
    store = stores(runtime.database)[owner["graph_store"]]
    before = store.circles(change.owner_id, change.member_id, session)
    people = GraphPerson(owner["_id"], owner["name"]), GraphPerson(member["_id"], member["name"])
    pair = Pair(*people, before, change.of(before, owner), runtime.now())
    if pair.after == pair.before:
        return None
    _check_room(runtime.bounds.social.embedded_max, pair, owner, member)
    _write(runtime.database, pair, owner, member, session)
    outbox.note_all(runtime, _back_fills(pair), session)
    if pair.before and not pair.after:
        telling.note(runtime, _act_of(pair), session)
    return pair, member["graph_store"]


def _find_both(
    database: Database[Document], change: _Change, session: ClientSession
) -> tuple[User | None, _Person | None]:
    """Return an owner of circles and a member. None: no such user. Raises as `_check_may_join`."""
    about: Document = dict(_PERSON)
    if change.joining:
        other = {"$literal": change.member_id}
        blocks = [{"$in": [other, f"${name}"]} for name in ("blocked", "blocked_by")]
        about["is_apart"] = {"$or": blocks}
        about[f"circles.{change.joining}.key"] = 1
    both = {"_id": {"$in": [change.owner_id, change.member_id]}}
    rows: Any = USERS.of(database).find(both, about, session=session)
    found = {each["_id"]: each for each in rows}
    owner, member = found.get(change.owner_id), found.get(change.member_id)
    if change.joining:
        _check_may_join(owner, member, change.joining)
    return owner, member


def _check_may_join(owner: Document | None, member: Document | None, circle_id: str) -> None:
    """Raise UnknownUser, UnknownCircle or CannotCircle if a member cannot join a circle."""
    if member is None:
        raise UnknownUser
    if owner is None or circle_id not in owner["circles"]:
        raise UnknownCircle
    if owner["is_apart"]:
        raise CannotCircle


def _check_room(most: int, pair: Pair, owner: _Person, member: _Person) -> None:
    """Raise _Outgrown for a user who has no room for the pair in the user's document."""
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
    # For either store: concurrent changes of the owner's circles conflict on this document.
    users = USERS.of(database)
    users.update_one({"_id": pair.owner.id}, {"$inc": counts}, session=session)
    for name, store in stores(database).items():
        kept = {"owner": owner["graph_store"] == name, "member": member["graph_store"] == name}
        store.write(pair, session, **kept)
    if member["graph_store"] == "embedded" and following:
        change = {"$inc": {"counts.followers": following}}
        users.update_one({"_id": pair.member.id}, change, session=session)


def _act_of(pair: Pair) -> NotifyFeed:
    return NotifyFeed(by=pair.owner.id, kind="follow")


def _followers_change(pair: Pair) -> int:
    return int(bool(pair.after)) - int(bool(pair.before))


def _back_fills(pair: Pair) -> list[BackFill]:
    """Return the back-fills of a changed pair; none if the member joined no circle.

    The owner gets the member's posts if the following is new. The member gets the owner's posts.
    """
    if not pair.after - pair.before:
        return []
    owner, member = pair.owner.id, pair.member.id
    new = BackFill(reader_id=owner, author_id=member, tells="follow")
    to_owner = [] if pair.before else [new]
    return [*to_owner, BackFill(reader_id=member, author_id=owner)]


def count_followers(database: Database[Document], user_ids: list[str], change: int) -> None:
    """Add `change` to promoted users' follower counts; after a crash, `recount` repairs them."""
    if user_ids and change:
        promoted = {"_id": {"$in": user_ids}, "graph_store": "edges"}
        USERS.of(database).update_many(promoted, {"$inc": {"counts.followers": change}})


def recount(runtime: Runtime) -> int:
    """Recount the followers of promoted users; return the number of wrong counts.

    Handles up to a thousand users, the longest not recounted first. Ends after half of the
    remaining time; the next run continues.
    """
    users, has_time, wrong = USERS.of(runtime.database), deadlines.share(0.5), 0
    rows = users.find({"graph_store": "edges"}, {"_id": 1}).sort("recounted", ASCENDING)
    for user in list(rows.limit(_RECOUNTED_AT_ONCE)):
        wrong += _recount(runtime, user["_id"])
        if not has_time():
            break
    return wrong


def _recount(runtime: Runtime, user_id: str) -> bool:
    """Recount the followers of a user; return whether this call corrected the count."""
    users = USERS.of(runtime.database)
    before = users.find_one({"_id": user_id}, {"counts.followers": 1})
    if before is None:
        return False
    had = before["counts"]["followers"]
    followers = EdgeGraph(runtime.database).count_followers(user_id)
    counted = {"counts.followers": followers, "recounted": runtime.now()}
    # Only if the count has not changed since the read.
    where = {"_id": user_id, "counts.followers": had}
    if users.update_one(where, {"$set": counted}).matched_count:
        return had != followers
    # The user moves behind all others, or users with busy counts would take every turn.
    users.update_one({"_id": user_id}, {"$set": {"recounted": counted["recounted"]}})
    return False
