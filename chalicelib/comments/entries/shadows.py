"""What of a node a shadowed author alone is shown: hidden comments that they are not told of."""

from collections import Counter
from typing import Any

from pymongo.database import Database

from chalicelib.comments.entries.rows import ENTRIES, SHADOWS
from chalicelib.comments.shapes import Node, Shadow
from chalicelib.database import Document


def own(database: Database[Document], node: Node, user_id: str) -> Counter[Shadow]:
    """Return how many of a person's hidden comments in a node they are shown in which state."""
    where = {"site": node["site"], "author_id": user_id, "node_id": node["_id"], **SHADOWS}
    group = {"$group": {"_id": "$shadow", "comments": {"$sum": 1}}}
    rows: Any = ENTRIES.of(database).aggregate([{"$match": where}, group])
    return Counter({row["_id"]: row["comments"] for row in rows})
