"""The authors that are noted in a node whose comments are embedded."""

from pymongo.database import Database

from chalicelib.comments import nodes
from chalicelib.comments.stores.embedded_tree import ARRAYS
from chalicelib.database import Document


def note_authors(database: Database[Document], where: Document) -> int:
    """Note the authors of the comments of nodes that the last release wrote to.

    Returns how many nodes changed.
    """
    noted = {"$set": {"metadata.authors": {"$setUnion": [_authors(array) for array in ARRAYS]}}}
    kept = {"store": "embedded", "metadata.count": {"$gt": 0}, **where}
    return nodes.NODES.of(database).update_many(kept, [noted]).modified_count


def _authors(array: str) -> Document:
    """Return the expression of the ids of authors in an array, nested lists made flat."""
    ids: Document = {"$ifNull": [f"${array}.author.id", []]}
    for _ in range(array.count(".") - 1):
        ids = {
            "$reduce": {
                "input": ids,
                "initialValue": [],
                "in": {"$concatArrays": ["$$value", "$$this"]},
            }
        }
    return ids
