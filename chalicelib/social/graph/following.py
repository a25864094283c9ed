"""The directed graph of circles: whoever is in my circles, I follow.

Each user has a store (`graph_store`): a pair is kept by the stores of both its users, changed
in one transaction that always writes the owner's document. What else concerns the owner, such
as deleting a circle, a block or a promotion, conflicts with it there and is tried again.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.runtime import Runtime
from chalicelib.social import outbox
from chalicelib.social.errors import CannotCircle, CannotCircleSelf, UnknownCircle, UnknownUser
from chalicelib.social.graph import promotion
from chalicelib.social.graph.reader import Reader
from chalicelib.social.graph.store import GraphPerson, GraphStore, Pair, Relations, StoreName
from chalicelib.social.graph.stores.edges import EdgeGraph
from chalicelib.social.graph.stores.embedded import EmbeddedGraph
from chalicelib.social.graph.users import collection
from chalicelib.social.messages import BackFill
from chalicelib.social.paging.id_range import IdRange

_PERSON = {"name": 1, "graph_store": 1, "counts": 1}
_PAGE = 1_000
# What of a user's document says whom the user follows.
FOLLOWING = {"graph_store": 1, "circles": 1}


@dataclass(frozen=True)
class _Change:
    """What becomes of the circles of an owner that a member is in; one may be to be joined."""

    owner_id: str
    member_id: str
    of: Callable[[frozenset[str]], frozenset[str]]
    joining: str | None = None


class _Outgrown(Exception):
    """A user has as many members or followers as a document is to hold."""

    def __init__(self, user_id: str) -> None:
        super().__init__(user_id)
        self.user_id = user_id


def stores(database: Database[Document]) -> dict[StoreName, GraphStore]:
    """Return the stores by the name that a user's `graph_store` has."""
    return {"embedded": EmbeddedGraph(database), "edges": EdgeGraph(database)}


def store_of(database: Database[Document], user_id: str) -> GraphStore:
    """Return the store of a user; raises UnknownUser."""
    user = collection(database).find_one({"_id": user_id}, {"graph_store": 1})
    if user is None:
        raise UnknownUser
    return stores(database)[user["graph_store"]]


def add_member(runtime: Runtime, owner_id: str, circle_id: str, member_id: str) -> None:
    """Put somebody into a circle, which is to follow them; doing so twice changes nothing.

    A user who has outgrown the embedded store is promoted first. Raises CannotCircleSelf,
    UnknownUser, UnknownCircle and CannotCircle, where one of the two blocks the other.
    """
    if owner_id == member_id:
        raise CannotCircleSelf
    joining = _Change(owner_id, member_id, lambda held: held | {circle_id}, circle_id)
    while True:
        try:
            changed = _make(runtime, joining)
        except _Outgrown as outgrown:
            promotion.promote(runtime, outgrown.user_id)
        else:
            break
    runtime.queues.send(*(errand for pair in changed for errand in _back_fills(pair)))


def remove_member(runtime: Runtime, owner_id: str, circle_id: str, member_id: str) -> None:
    """Take somebody out of a circle; leaving the last one ends the following.

    Where there is nothing to take out, nothing changes.
    """
    _make(runtime, _Change(owner_id, member_id, lambda held: held - {circle_id}))


def end_following(runtime: Runtime, owner_id: str, member_id: str) -> None:
    """Take somebody out of all of a user's circles."""
    _make(runtime, _ending(owner_id, member_id))


def part(runtime: Runtime, one: str, other: str, first: Callable[[ClientSession], None]) -> None:
    """End the following of two users both ways, in one transaction with what is to come first."""
    _make(runtime, _ending(one, other), _ending(other, one), first=first)


def _ending(owner_id: str, member_id: str) -> _Change:
    return _Change(owner_id, member_id, lambda _held: frozenset())


def _make(
    runtime: Runtime,
    *changes: _Change,
    first: Callable[[ClientSession], None] = lambda _session: None,
) -> list[Pair]:
    """Make changes in one transaction; return the pairs that are not as they were."""

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
    pair = Pair(*people, before, change.of(before), runtime.now())
    if pair.after == pair.before:
        return None
    _check_room(pair, owner, member)
    _write(runtime.database, pair, owner, member, session)
    for errand in _back_fills(pair):
        outbox.note(runtime, errand, session)
    return pair, member["graph_store"]


def _both(
    database: Database[Document], change: _Change, session: ClientSession
) -> tuple[Document | None, Document | None]:
    """Return an owner of circles and another user, who may join the circle that is named."""
    users, joining = collection(database), change.joining
    about = {**_PERSON, f"circles.{joining}.name": 1} if joining else _PERSON
    owner = users.find_one({"_id": change.owner_id}, about, session=session)
    member = users.find_one({"_id": change.member_id}, _PERSON, session=session)
    if joining:
        _check_may_join(database, owner, member, joining, session)
    return owner, member


def _check_may_join(
    database: Database[Document],
    owner: Document | None,
    member: Document | None,
    circle_id: str,
    session: ClientSession,
) -> None:
    if member is None:
        raise UnknownUser
    if owner is None or circle_id not in owner.get("circles", {}):
        raise UnknownCircle
    blocks = {"$or": [{"blocked": member["_id"]}, {"blocked_by": member["_id"]}]}
    if collection(database).find_one({"_id": owner["_id"], **blocks}, {}, session=session):
        raise CannotCircle


def _check_room(pair: Pair, owner: Document, member: Document) -> None:
    """Raise _Outgrown for one of the two whose document is to take no more."""
    most = promotion.EMBEDDED_MAX
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
    owner: Document,
    member: Document,
    session: ClientSession,
) -> None:
    following = _followers_change(pair)
    memberships = len(pair.after) - len(pair.before)
    counts = {"counts.memberships": memberships, "counts.following": following}
    # Whichever store the owner has: this is where changes of the owner's circles conflict.
    users = collection(database)
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
    """Return what is owed after joining: the member's posts, and the owner's to that circle."""
    if not pair.after - pair.before:
        return []
    owner, member = pair.owner.id, pair.member.id
    to_owner = [] if pair.before else [BackFill(reader_id=owner, author_id=member)]
    return [*to_owner, BackFill(reader_id=member, author_id=owner)]


def count_followers(database: Database[Document], user_ids: list[str], change: int) -> None:
    """Count followers of promoted users; a crash before it is mended by `recount`."""
    if user_ids and change:
        promoted = {"_id": {"$in": user_ids}, "graph_store": "edges"}
        collection(database).update_many(promoted, {"$inc": {"counts.followers": change}})


def recount(database: Database[Document]) -> int:
    """Count the followers of every promoted user anew; return how many counts were wrong."""
    users, wrong = collection(database), 0
    for user in users.find({"graph_store": "edges"}, {"counts": 1}):
        followers = EdgeGraph(database).count_followers(user["_id"])
        counted = {"counts.followers": followers}
        if user["counts"]["followers"] != followers:
            # Only if nobody was circled since it was read.
            where = {"_id": user["_id"], "counts": user["counts"]}
            wrong += users.update_one(where, {"$set": counted}).modified_count
    return wrong


def followers(database: Database[Document], user_id: str, ids: IdRange) -> list[GraphPerson]:
    """Return followers by id; raises UnknownUser."""
    return store_of(database, user_id).followers(user_id, ids)


def all_followers(database: Database[Document], user_id: str) -> Iterator[list[GraphPerson]]:
    """Yield a user's followers, a thousand at a time; raises UnknownUser."""
    return pages(partial(store_of(database, user_id).followers, user_id))


def pages(fetch: Callable[[IdRange], list[GraphPerson]]) -> Iterator[list[GraphPerson]]:
    """Yield all people of a listing by id, a thousand at a time."""
    ids = IdRange(limit=_PAGE)
    while page := fetch(ids):
        yield page
        ids = ids._replace(after=page[-1].id)


def following(database: Database[Document], user_id: str, own: Document | None = None) -> list[str]:
    """Return the ids of all whom a user follows; of nobody where there is no such user.

    `own` is the user's document with FOLLOWING, where it has been read already.
    """
    own = own or collection(database).find_one({"_id": user_id}, FOLLOWING)
    if own is None:
        return []
    if own["graph_store"] == "embedded":
        return sorted({each for circle in own["circles"].values() for each in circle["members"]})
    return EdgeGraph(database).member_ids(user_id)


def reader(
    database: Database[Document], reader_id: str | None, author_ids: Iterable[str]
) -> Reader:
    """Return what a reader is to these people: one read of the reader's own document.

    A reader who was promoted costs one more, of the edges.
    """
    if reader_id is None:
        return Reader()
    others = set(author_ids)
    own = collection(database).find_one({"_id": reader_id}, _relations_to(others))
    if own is None:
        return Reader(reader_id)
    relations: Relations = stores(database)[own["graph_store"]].relations(own, others)
    return Reader(
        id=reader_id,
        circled_by=relations.circled_by,
        following=relations.following,
        blocked=frozenset(own["blocked"] + own["blocked_by"]),
        blocks=own["blocks"],
    )


def _relations_to(others: set[str]) -> Document:
    """Return the projection of a reader's document that tells of others, and of no more."""
    among = list(others)
    return {
        "graph_store": 1,
        "circles": 1,
        **{f"followers.{other}.circles": 1 for other in others},
        "blocked": {"$setIntersection": ["$blocked", among]},
        "blocked_by": {"$setIntersection": ["$blocked_by", among]},
        "blocks": {"$or": [{"$ne": ["$blocked", []]}, {"$ne": ["$blocked_by", []]}]},
    }
