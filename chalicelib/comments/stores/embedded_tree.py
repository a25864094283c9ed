"""Comments inside a node's document: their paths, walks over them, and their layout.

Flat comments are in `metadata.comments`. Threaded comments are in `metadata.replies`, and each
reply in the `replies` of its parent. The path of a comment is like `metadata.replies.0.replies.2`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import bson

from chalicelib.comments.forms import DEEPEST
from chalicelib.comments.shapes import Comment, Embedded, EmbeddedComment, Node, NodeLayout
from chalicelib.comments.store import Page, position
from chalicelib.database import Document

# Every array that may hold comments.
ARRAYS = ("metadata.comments", *("metadata" + ".replies" * (n + 1) for n in range(DEEPEST + 1)))
WHOLE: Document = {"metadata": 1}
# The projection of a search for a path: a fraction of the document's bytes.
IDS: Document = {f"{array}.{name}": 1 for array in ARRAYS for name in ("id", "seq", "state")}


def root_array(node: NodeLayout) -> str:
    """Return the path of the array of a node's root comments."""
    return "metadata.replies" if node["threaded"] else "metadata.comments"


def parent_path(path: str) -> str:
    """Return the path of the parent of the comment at this path."""
    return path.rpartition(".replies.")[0]


def roots_of(node: NodeLayout, metadata: Embedded) -> list[EmbeddedComment]:
    """Return a node's root comments, with their replies inside them."""
    return metadata.get("replies", []) if node["threaded"] else metadata.get("comments", [])


def walk(array: Sequence[EmbeddedComment], path: str = "") -> Iterator[tuple[str, Comment]]:
    """Yield every comment with its path, depth-first; remove its `replies`, in place."""
    for index, stored in enumerate(array):
        here = f"{path}.{index}"
        replies = stored.get("replies")
        yield here, without_replies(stored)
        if replies:
            yield from walk(replies, f"{here}.replies")


def every_comment(metadata: Embedded) -> Iterator[Comment]:
    """Yield every comment of a node, flat or threaded."""
    for array in (metadata.get("comments", []), metadata.get("replies", [])):
        for _, comment in walk(array):
            yield comment


def find(
    array: Sequence[EmbeddedComment], comment_id: str, path: str = ""
) -> Iterator[tuple[str, Comment]]:
    """Yield the path and the comment of an id; nothing for an unknown id."""
    return (each for each in walk(array, path) if each[1]["id"] == comment_id)


def cut(comments: Iterable[Comment], node: Node, page: Page) -> list[Comment]:
    """Return the comments that the viewer sees after the page's position, up to the limit.

    For a page backwards, the caller passes the comments backwards, too.
    """
    shown: list[Comment] = []
    for comment in comments:
        if page.viewer.lists(comment) and _is_after(comment, node, page):
            shown.append(comment)
            if len(shown) == page.limit:
                break
    return shown


def _is_after(comment: Comment, node: Node, page: Page) -> bool:
    if page.after is None:
        return True
    here = position(node, comment)
    if node["threaded"] and page.order == "newest" and here[0] != page.after[0]:
        return bool(here[0] < page.after[0]) is not page.backwards
    return here < page.after if page.backwards else here > page.after


def without_replies(stored: EmbeddedComment) -> Comment:
    """Remove the replies from a comment, in place, and return it."""
    stored.pop("replies", None)
    return stored


def with_replies(comment: Comment) -> EmbeddedComment:
    """Return a new comment with an empty list of replies."""
    return {**comment, "replies": []}


def lay_out(comments: Iterable[Comment], node: NodeLayout) -> Embedded:
    """Return the metadata of a node with these comments; count their replies anew.

    `comments` come in the order of their numbers, so a parent comes before its replies.
    """
    stored: dict[str, EmbeddedComment] = {}
    roots: list[EmbeddedComment] = []
    for comment in comments:
        copy = stored[comment["id"]] = with_replies(comment)
        copy["reply_count"] = 0
        copy.pop("invisible_replies", None)
        siblings = roots
        if comment["parent_id"]:
            parent = stored[comment["parent_id"]]
            parent["reply_count"] += 1
            if comment["state"] != "visible":
                parent["invisible_replies"] = parent.get("invisible_replies", 0) + 1
            parent["state"] = "deleted" if parent["state"] == "removed" else parent["state"]
            siblings = parent["replies"]
        siblings.append(copy)
    authors = {copy["author"]["id"] for copy in stored.values() if copy["author"]}
    metadata: Embedded = {"count": len(stored), "authors": sorted(authors)}
    metadata["replies" if node["threaded"] else "comments"] = roots
    return metadata


def equal_to(value: Any) -> Any:
    """Return the condition that a field at a path through arrays equals a value.

    At a path like `replies.0.edited`, a plain `None` would always match: the server also reads "0"
    as a field's name, no element has such a field, and a missing field equals None.
    """
    return {"$type": "null"} if value is None else value


def condition_of(comment: Mapping[str, object], name: str) -> Any:
    """Return the condition that a field has the comment's value, or is missing as it is there."""
    return equal_to(comment[name]) if name in comment else {"$exists": False}


def growth(before: Comment, after: Comment) -> int:
    """Return the change of a comment's BSON size in bytes; negative if it shrinks."""
    return len(bson.encode(after)) - len(bson.encode(before))


def at(path: str, values: Mapping[str, Any]) -> Document:
    """Return values by their full paths, for a filter or an update of the comment at `path`."""
    return {f"{path}.{name}": value for name, value in values.items()}
