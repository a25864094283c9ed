"""Indexes of the `documents` store, and the index ranges that a page reads."""

from pymongo import ASCENDING, DESCENDING

from chalicelib.comments.shapes import Node, NodeLayout, Shadow
from chalicelib.comments.store import CONCEALED, Page, Viewer
from chalicelib.database import Document

NODE = [("node_id", ASCENDING), ("generation", ASCENDING)]
BY_ID = [*NODE, ("id", ASCENDING)]
BY_SEQ = [("seq", ASCENDING)]
BY_THREAD = [("full_slug", ASCENDING)]
BY_NEWEST_ROOT = [("root_seq", DESCENDING), ("full_slug", ASCENDING)]
ORDERS = (BY_SEQ, BY_THREAD, BY_NEWEST_ROOT)
# The partial filter of the shadow indexes: comments hidden without their authors' knowledge.
SHADOWS: Document = {"shadow": {"$type": "string"}}
_SHOWN: tuple[Shadow, ...] = ("visible", "pending")


def seen_by(viewer: Viewer) -> list[Document]:
    """Return filters of the comments that a viewer sees in listings, one per index range."""
    branches: list[Document] = [{"state": "visible"}]
    if viewer.moderator:
        return [*branches, *({"state": state} for state in ("pending", *CONCEALED))]
    if viewer.user_id:
        branches.append({"state": "pending", "author.id": viewer.user_id})
    if viewer.user_id and viewer.shadowed:
        own: Document = {"author.id": viewer.user_id, **SHADOWS}
        own |= {"state": {"$in": list(CONCEALED)}}
        branches += [{**own, "shadow": {"$type": "string", "$eq": shown}} for shown in _SHOWN]
    return branches


def by_state(sort: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Return the keys of the by-state index that yields this sort, read forwards or backwards."""
    return [*NODE, ("state", ASCENDING), *(sort if sort in ORDERS else BY_SEQ)]


def sort_of(node: NodeLayout, page: Page) -> list[tuple[str, int]]:
    """Return the sort of a page: by number in a flat node, by thread in a threaded node."""
    if not node["threaded"]:
        return [("seq", ASCENDING if page.order == "oldest" else DESCENDING)]
    return BY_THREAD if page.order == "oldest" else BY_NEWEST_ROOT


def ranges_after(node: Node, page: Page) -> list[Document]:
    """Return filters of the ranges after the page's position, for an `$or`."""
    if page.after is None:
        return [{}]
    if not node["threaded"]:
        (seq,) = page.after
        return [{"seq": {"$gt" if page.order == "oldest" else "$lt": seq}}]
    root, full_slug = page.after
    beyond, above = ("$lt", "$gt") if page.backwards else ("$gt", "$lt")
    if page.order == "oldest":
        return [{"full_slug": {beyond: full_slug}}]
    return [
        {"root_seq": {above: root}},
        {"root_seq": root, "full_slug": {beyond: full_slug}},
    ]
