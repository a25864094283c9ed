"""Concealed comments of a node that their shadowed authors still see."""

from collections import Counter
from typing import Any

from pymongo.database import Database

from chalicelib.comments.entries.rows import ENTRIES, SHADOWS
from chalicelib.comments.shapes import Node, Shadow
from chalicelib.database import Document


def count_own(database: Database[Document], node: Node, user_id: str) -> Counter[Shadow]:
    """Return the number of a person's concealed comments in a node, by the state that they see."""
    where = {"site": node["site"], "author_id": user_id, "node_id": node["_id"], **SHADOWS}
    group = {"$group": {"_id": "$shadow", "comments": {"$sum": 1}}}
    rows: Any = ENTRIES.of(database).aggregate([{"$match": where}, group])
    return Counter({row["_id"]: row["comments"] for row in rows})
