"""Promotion: a user's part of the graph moves from the user's document to edges."""

from pymongo import UpdateOne
from pymongo.client_session import ClientSession

from chalicelib.database import Document, in_transaction
from chalicelib.runtime import Runtime
from chalicelib.social.graph.circle_keys import by_key
from chalicelib.social.graph.store import GraphPerson, Pair
from chalicelib.social.graph.stores.edges import EDGES, edge_filter, edge_update
from chalicelib.social.graph.users import USERS, User


def promote(runtime: Runtime, user_id: str) -> None:
    """Move a user from the store `embedded` to `edges`; two calls at once move the user once.

    One transaction moves all pairs, at most two thousand, so a crash changes nothing. The
    transaction first writes the user's document. Concurrent changes of the user's graph write the
    same document, so they conflict and try again.
    """
    users = USERS.of(runtime.database)

    def work(session: ClientSession) -> None:
        user = users.find_one_and_update(
            {"_id": user_id, "graph_store": "embedded"},
            {"$set": {"graph_store": "edges", "followers": {}}},
            session=session,
        )
        if user is None:
            return
        emptied: Document = {f"circles.{each}.members": {} for each in user["circles"]}
        if emptied:
            users.update_one({"_id": user_id}, {"$set": emptied}, session=session)
        edges = [_edge(pair) for pair in _pairs(user, runtime)]
        if edges:
            EDGES.of(runtime.database).bulk_write(edges, ordered=False, session=session)

    in_transaction(runtime.database, work)


def _pairs(user: User, runtime: Runtime) -> list[Pair]:
    own, ts, none = GraphPerson(user["_id"], user["name"]), runtime.now(), frozenset[str]()
    held: dict[GraphPerson, set[str]] = {}
    for key, circle in by_key(user["circles"]).items():
        for member_id, member in circle["members"].items():
            held.setdefault(GraphPerson(member_id, member["name"]), set()).add(key)
    outward = [Pair(own, member, none, frozenset(keys), ts) for member, keys in held.items()]
    inward = [
        Pair(GraphPerson(owner, entry["name"]), own, none, frozenset(entry["circles"]), ts)
        for owner, entry in user["followers"].items()
    ]
    return outward + inward


def _edge(pair: Pair) -> UpdateOne:
    return UpdateOne(edge_filter(pair.owner.id, pair.member.id), edge_update(pair), upsert=True)
