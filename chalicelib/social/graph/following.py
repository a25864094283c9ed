"""Following: a user follows everyone in their circles.

Each user's `graph_store` names the store of the user's members and followers.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypedDict

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.people import blocks
from chalicelib.social.errors import UnknownUser
from chalicelib.social.graph.audience import Reader
from chalicelib.social.graph.store import GraphPerson, GraphStore, StoreName
from chalicelib.social.graph.stores.edges import EdgeGraph
from chalicelib.social.graph.stores.embedded import EmbeddedGraph
from chalicelib.social.graph.users import USERS, Circle
from chalicelib.social.paging import IdRange

_PAGE = 1_000
# The projection of a user's document to the users that the user follows.
FOLLOWING = {"graph_store": 1, "circles": 1}


class Follows(TypedDict):
    """A user's document as `FOLLOWING` reads it."""

    graph_store: StoreName
    circles: dict[str, Circle]


def stores(database: Database[Document]) -> dict[StoreName, GraphStore]:
    """Return the stores by their names in `graph_store`."""
    return {"embedded": EmbeddedGraph(database), "edges": EdgeGraph(database)}


def store_of(database: Database[Document], user_id: str) -> GraphStore:
    """Return the store of a user; raises UnknownUser."""
    user = USERS.of(database).find_one({"_id": user_id}, {"graph_store": 1})
    if user is None:
        raise UnknownUser
    return stores(database)[user["graph_store"]]


def followers(database: Database[Document], user_id: str, ids: IdRange) -> list[GraphPerson]:
    """Return a user's followers in a range of ids, ordered by id; raises UnknownUser."""
    return store_of(database, user_id).followers(user_id, ids)


def all_followers(database: Database[Document], user_id: str) -> Iterator[list[GraphPerson]]:
    """Yield a user's followers, a thousand at a time; raises UnknownUser."""
    return pages(partial(store_of(database, user_id).followers, user_id))


def pages(fetch: Callable[[IdRange], list[GraphPerson]]) -> Iterator[list[GraphPerson]]:
    """Yield all people of a listing, ordered by id, a thousand at a time."""
    ids = IdRange(limit=_PAGE)
    while page := fetch(ids):
        yield page
        ids = ids._replace(after=page[-1].id)


def following(database: Database[Document], user_id: str, own: Follows | None = None) -> list[str]:
    """Return the ids of all users that a user follows; none for an unknown user.

    `own` is the user's document as `FOLLOWING` reads it, if the caller has it.
    """
    own = own or USERS.of(database).find_one({"_id": user_id}, FOLLOWING)
    if own is None:
        return []
    if own["graph_store"] == "embedded":
        return sorted({each for circle in own["circles"].values() for each in circle["members"]})
    return EdgeGraph(database).member_ids(user_id)


def reader(
    database: Database[Document], reader_id: str | None, author_ids: Iterable[str]
) -> Reader:
    """Return a reader's relations to authors, without `kept`.

    `reader_id` None: an anonymous reader, without relations.

    Reads the reader's document once. A second read finds the edges of a promoted reader, or the
    blocks of a person without a user.
    """
    if reader_id is None:
        return Reader()
    others = set(author_ids)
    own = database[USERS.name].find_one({"_id": reader_id}, _relations_to(others))
    if own is None:
        return _reader_of_blocks(database, reader_id, others)
    relations = stores(database)[own["graph_store"]].relations(own, others)
    return Reader(
        id=reader_id,
        circled_by=relations.circled_by,
        following=relations.following,
        blocked=frozenset(own["blocked"] + own["blocked_by"]),
        blocks=own["blocks"],
        complete_since=own.get("complete_since"),
    )


def _reader_of_blocks(database: Database[Document], reader_id: str, others: set[str]) -> Reader:
    """Return the relations of a reader without a document in `USERS`: blocks alone."""
    known = blocks.find(database, reader_id)
    either = {*known.blocked, *known.blocked_by}
    return Reader(id=reader_id, blocked=frozenset(either & others), blocks=bool(either))


def _relations_to(others: set[str]) -> Document:
    """Return the projection of a reader's document to its relations with others."""
    among = list(others)
    return {
        "graph_store": 1,
        "circles": 1,
        "complete_since": 1,
        **{f"followers.{other}.circles": 1 for other in others},
        "blocked": {"$setIntersection": ["$blocked", among]},
        "blocked_by": {"$setIntersection": ["$blocked_by", among]},
        "blocks": {"$or": [{"$ne": ["$blocked", []]}, {"$ne": ["$blocked_by", []]}]},
    }
