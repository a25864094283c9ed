"""A shadowed person's part of a node: their concealed comments, and votes that only they see."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.entries.rows import ENTRIES, SHADOWS, all_of
from chalicelib.comments.permissions import NOTHING_OWN, Own
from chalicelib.comments.shapes import Node, Shadow
from chalicelib.comments.stores import ask
from chalicelib.database import Document
from chalicelib.marks.shapes import MARKS, SHADOWED, thing_of
from chalicelib.runtime import Runtime

# A shadowed person's ranked pages consider at most this many of their own votes.
MOST_VOTES = 1_000


def read_own(runtime: Runtime, found: Sequence[Node], user_id: str) -> dict[str, Own]:
    """Return a person's own parts of nodes by node id, without `blocked`.

    Takes one round trip; none if no node is marked with `shadows`. Each node with replies of
    release 0.3.0 takes another.
    """
    noted = {node["_id"]: node for node in found if node.get("shadows")}
    if not noted:
        return {}
    stages = [*_comments(list(noted.values()), user_id), _votes(list(noted.values()), user_id)]
    rows: Any = ENTRIES.of(runtime.database).aggregate(stages)
    shadows: dict[str, Counter[Shadow]] = defaultdict(Counter)
    replies: dict[str, Counter[str]] = defaultdict(Counter)
    votes: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        if "vote" in row:
            node_id, _, comment_id = thing_of(row["_id"])[1].partition("/")[2].rpartition("/")
            votes[node_id][comment_id] = row["vote"]
            continue
        node_id, shadow = row["_id"]["node"], row["_id"]["shadow"]
        shadows[node_id][shadow] += row["comments"]
        if shadow == "visible":
            replies[node_id].update(_parents(runtime, noted[node_id], row))
    return {each: Own(shadows[each], replies[each], votes[each]) for each in noted}


def of_node(runtime: Runtime, node: Node, user_id: str) -> Own:
    """Return a person's own part of a node, without `blocked`."""
    return read_own(runtime, [node], user_id).get(node["_id"], NOTHING_OWN)


def has_any(runtime: Runtime, node: Node) -> bool:
    """Return whether any comment of a node is concealed without its author's knowledge."""
    where = {**all_of(node, node["site"]), **SHADOWS}
    return ENTRIES.of(runtime.database).find_one(where, {"_id": 1}) is not None


def _comments(noted: Sequence[Node], user_id: str) -> list[Document]:
    """Return the stages that count concealed comments by node, parent and state."""
    where = {
        "site": {"$in": sorted({node["site"] for node in noted})},
        "author_id": user_id,
        "node_id": {"$in": [node["_id"] for node in noted]},
        **SHADOWS,
    }
    # Entries of 0.3.0 name no parent.
    is_unplaced = {"$and": [{"$gt": ["$depth", 0]}, {"$lte": ["$parent_id", None]}]}
    by = {"node": "$node_id", "parent": "$parent_id", "shadow": "$shadow"}
    unplaced = {"$push": {"$cond": [is_unplaced, "$id", "$$REMOVE"]}}
    group = {"_id": by, "comments": {"$sum": 1}, "unplaced": unplaced}
    return [{"$match": where}, {"$group": group}]


def _votes(noted: Sequence[Node], user_id: str) -> Document:
    """Return the stage that appends a shadowed person's own votes, at most MOST_VOTES."""
    ranges = [{"_id": _marks_below(node)} for node in noted]
    where = {"user_id": user_id, **SHADOWED, "vote": {"$ne": 0}, "$or": ranges}
    pipeline = [{"$match": where}, {"$limit": MOST_VOTES}, {"$project": {"vote": 1}}]
    return {"$unionWith": {"coll": MARKS.name, "pipeline": pipeline}}


def _marks_below(node: Node) -> Document:
    return {
        bound: f"{KIND.name}:{thing_id({'site': node['site'], '_id': end})}"
        for bound, end in all_of(node, node["site"])["_id"].items()
    }


def _parents(runtime: Runtime, node: Node, row: Any) -> Mapping[str, int]:
    """Return the numbers of the replies in a group of entries, by the id of their parent.

    Release 0.3.0 wrote entries of replies without the parent: the store has it.
    """
    if row["unplaced"]:
        found = ask(runtime, node, lambda store, now: store.get_many(now, row["unplaced"]))
        return Counter(each["parent_id"] for each in found if each["parent_id"])
    parent_id = row["_id"].get("parent")
    return {parent_id: row["comments"]} if parent_id else {}
