"""The graph as it is stored, read whole."""

from collections import defaultdict

from chalicelib.database import Document
from chalicelib.runtime import Runtime

Circles = dict[tuple[str, str], frozenset[str]]


def documents(runtime: Runtime) -> list[Document]:
    """Return all that the graph is stored in."""
    database = runtime.database
    return [*database["social.user"].find().sort("_id"), *database["social.edge"].find()]


def assert_directions_agree(runtime: Runtime) -> None:
    """Check that a pair is the same wherever it stands, and that every count is right."""
    everyone = {user["_id"]: user for user in runtime.database["social.user"].find()}
    outward, inward = _embedded(everyone)
    edges = {
        (edge["_id"]["owner"], edge["_id"]["member"]): frozenset(edge["circles"])
        for edge in runtime.database["social.edge"].find()
    }
    in_edges = {user_id for user_id, user in everyone.items() if user["graph_store"] == "edges"}
    pairs = {**outward, **inward, **edges}
    for pair, circles in pairs.items():
        owner, member = pair
        assert circles
        assert outward.get(pair) == (None if owner in in_edges else circles)
        assert inward.get(pair) == (None if member in in_edges else circles)
        assert edges.get(pair) == (circles if in_edges & set(pair) else None)
    for user_id, user in everyone.items():
        held = [circles for (owner, _), circles in pairs.items() if owner == user_id]
        assert user["counts"] == {
            "followers": sum(member == user_id for _, member in pairs),
            "following": len(held),
            "circles": len(user["circles"]),
            "memberships": sum(map(len, held)),
        }


def _embedded(everyone: dict[str, Document]) -> tuple[Circles, Circles]:
    outward: dict[tuple[str, str], set[str]] = defaultdict(set)
    inward: Circles = {}
    for user_id, user in everyone.items():
        for circle_id, circle in user["circles"].items():
            for member in circle["members"]:
                outward[user_id, member].add(circle.get("key", circle_id))
        for owner, entry in user["followers"].items():
            inward[owner, user_id] = frozenset(entry["circles"])
    return {pair: frozenset(circles) for pair, circles in outward.items()}, inward
