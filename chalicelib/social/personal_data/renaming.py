"""Propagating a user's new name to every copy: in the graph, on posts, and on comments on them.

A worker stops if the name is changed again.
"""

from collections.abc import Callable
from functools import partial

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.runtime import Runtime
from chalicelib.social.graph import following, users
from chalicelib.social.graph.store import GraphPerson
from chalicelib.social.graph.stores.edges import EdgeGraph, End
from chalicelib.social.graph.stores.embedded import EmbeddedGraph
from chalicelib.social.messages import Propagate
from chalicelib.social.paging.id_range import IdRange
from chalicelib.social.posts import comments, posts

Listing = Callable[[IdRange], list[GraphPerson]]


def rename(runtime: Runtime, user_id: str, name: str) -> None:
    """Make every copy of a user's name this one, unless the user has another one meanwhile."""
    person = GraphPerson(user_id, name)
    _in_graph(runtime.database, person)
    other = {"by.id": user_id, "by.name": {"$ne": person.name}}
    _on_posts(runtime, person, other, {"by.name": person.name}, [])
    each = {f"each.{field}": value for field, value in other.items()}
    _on_posts(
        runtime,
        person,
        {"comments": {"$elemMatch": other}},
        {"comments.$[each].by.name": person.name},
        [each],
    )
    older = comments.OLDER_COMMENTS.of(runtime.database)
    older.update_many(other, {"$set": {"by.name": person.name}})


def _in_graph(database: Database[Document], person: GraphPerson) -> None:
    """Rename a person in the documents of those who circle them, and of their members.

    The embedded store is read before the edges, as a promotion moves ties from one to the other.
    There may be a million edges: those that have the name already are passed over, so that a
    worker that runs out of time has not worked for nothing.
    """
    embedded, edges = EmbeddedGraph(database), EdgeGraph(database)
    listings: tuple[tuple[End, Listing], ...] = (
        ("member", partial(embedded.followers, person.id)),
        ("owner", partial(embedded.members, person.id, None)),
        ("member", partial(edges.called_otherwise, person, "member")),
        ("owner", partial(edges.called_otherwise, person, "owner")),
    )
    for side, fetch in listings:
        for page in following.pages(fetch):
            _on_ties(database, person, side, [each.id for each in page])


def _on_ties(
    database: Database[Document], person: GraphPerson, side: End, others: list[str]
) -> None:
    """Rename a person at one end of the ties to others, in both stores or in none.

    Otherwise an edge would have the name that the user's document lacks.
    """
    owners, members = ([], others) if side == "owner" else (others, [])

    def work(session: ClientSession) -> None:
        for store in following.stores(database).values():
            store.rename(person, owners, members, session)

    in_transaction(database, work)


def _on_posts(
    runtime: Runtime,
    person: GraphPerson,
    where: Document,
    change: Document,
    filters: list[Document],
) -> None:
    """Change posts, some at a time, and have each propagated to its copies."""
    rows, most = posts.POSTS.of(runtime.database), runtime.bounds.social.posts_renamed_at_once
    while found := [post["_id"] for post in rows.find(where, {"_id": 1}).limit(most)]:
        if not _is_called(runtime.database, person):
            return
        update = posts.marked(runtime, {"$set": change})
        rows.update_many({"_id": {"$in": found}}, update, array_filters=filters or None)
        runtime.queues.send(*(Propagate(post_id=post_id) for post_id in found))


def _is_called(database: Database[Document], person: GraphPerson) -> bool:
    """Return whether the name is still current, or two workers would undo each other's work."""
    now = {"_id": person.id, "name": person.name}
    return users.USERS.of(database).find_one(now, {"_id": 1}) is not None
