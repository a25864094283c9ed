"""Placeholders of comments above the replies of a page, so that no reply seems to begin a thread.

Stores list living comments alone. A comment that a reader does not see (deleted, waiting, hidden,
or by a person whom the reader blocks) keeps its place only while a page shows a comment below it.
The path of a comment names all comments above it, so that the places are
known before anything is read.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from chalicelib.comments.permissions import Rights
from chalicelib.comments.rendered import RENDERER
from chalicelib.comments.shapes import Comment, Node, State
from chalicelib.comments.store import WIPED
from chalicelib.comments.stores import ask
from chalicelib.runtime import Runtime

# The state of a place until its comment is read; no store lists such comments.
_EMPTY: State = "removed"
_VEILED: dict[State, State] = {
    "visible": "hidden",
    "pending": "pending",
    "hidden": "hidden",
    "spam": "hidden",
    "deleted": "deleted",
    "removed": "deleted",
}


def with_places(
    node: Node, rows: Iterable[Comment], before: str | None, within: int = 0
) -> list[Comment]:
    """Return the rows with empty places of the comments above them, each before its replies.

    before: the path of the comment before the rows; the places above it are on an earlier page.
    within: the depth of the highest place.
    """
    if not node["threaded"]:
        return list(rows)
    placed: list[Comment] = []
    known: set[str] = set()
    for row in rows:
        ids = row["slug"].split("/")
        for depth in range(within, len(ids) - 1):
            if ids[depth] not in known:
                known.add(ids[depth])
                segments = row["full_slug"].split("/")
                place = _place(ids[: depth + 1], segments[: depth + 1])
                if not _is_earlier(place, before):
                    placed.append(place)
        known.add(row["id"])
        placed.append(row)
    return placed


def is_living(comment: Comment) -> bool:
    """Return whether an item of a page is a comment, not an empty place."""
    return comment["state"] != _EMPTY


def above(node: Node, page: Sequence[Comment]) -> list[Comment]:
    """Return empty places of the comments above the first comment of a page, the root first."""
    return _places(page[0]["full_slug"])[:-1] if page and node["threaded"] else []


def fill(runtime: Runtime, node: Node, rights: Rights, page: Sequence[Comment]) -> list[Comment]:
    """Return comments as the caller sees them, with their empty places filled.

    One round trip reads all places. A comment by a person whom the caller blocks appears
    as a placeholder, and only above other comments.
    """
    empty = [each["id"] for each in page if not is_living(each)]
    found = {each["id"]: each for each in _read(runtime, node, empty)}
    shown = [as_seen(found.get(each["id"], each), rights) for each in page]
    return _without_bare(shown) if rights.blocked else shown


def fill_both(
    runtime: Runtime,
    node: Node,
    rights: Rights,
    ancestors: Sequence[Comment],
    page: Sequence[Comment],
) -> tuple[list[Comment], list[Comment]]:
    """Return the comments above a page, and the page, as `fill` does."""
    filled = fill(runtime, node, rights, [*ancestors, *page])
    ids = {each["id"] for each in ancestors}
    number = sum(each["id"] in ids for each in filled)
    return filled[:number], filled[number:]


def read_answered(
    runtime: Runtime, node: Node, rights: Rights, comments: Iterable[Comment]
) -> Mapping[str, Comment]:
    """Return the comments that `reply_to` of these comments names, by id, as the caller sees them.

    One round trip reads the named comments that are not in `comments`.
    """
    known = {each["id"]: each for each in comments}
    wanted = {each["reply_to"] for each in known.values() if "reply_to" in each}
    missing = sorted(wanted - known.keys())
    read = (*known.values(), *_read(runtime, node, missing))
    return {each["id"]: as_seen(each, rights) for each in read if each["id"] in wanted}


def _read(runtime: Runtime, node: Node, ids: Sequence[str]) -> Sequence[Comment]:
    """Return the stored comments of these ids; without an id, nothing is read."""
    return ask(runtime, node, lambda store, now: store.get_many(now, ids)) if ids else []


def _without_bare(page: Sequence[Comment]) -> list[Comment]:
    """Return a page; omit each placeholder that has no other comment of the page below it."""
    needed: set[str] = set()
    kept: list[Comment] = []
    for each in reversed(page):
        if each["author"] is not None or each["id"] in needed:
            needed.update(each["slug"].split("/"))
            kept.append(each)
    return kept[::-1]


def as_seen(comment: Comment, rights: Rights) -> Comment:
    """Return a comment, or its placeholder if the caller does not see it."""
    if rights.viewer.lists(comment) and not rights.blocks(comment):
        return comment
    placeholder: Comment = {**comment, **WIPED, "shadow": None}
    placeholder["state"] = _VEILED[comment["state"]]
    return placeholder


def place_of(full_slug: str) -> Comment:
    """Return the empty place of a path."""
    return _places(full_slug)[-1]


def _places(full_slug: str) -> list[Comment]:
    """Return an empty place for each comment of a path."""
    segments = full_slug.split("/")
    ids = [each.rpartition(":")[2] for each in segments]
    return [_place(ids[: depth + 1], segments[: depth + 1]) for depth in range(len(ids))]


def _place(ids: list[str], segments: list[str]) -> Comment:
    time, seq, _ = segments[-1].split(":")
    return {
        "id": ids[-1],
        "seq": int(seq),
        "parent_id": ids[-2] if len(ids) > 1 else None,
        "slug": "/".join(ids),
        "full_slug": "/".join(segments),
        "depth": len(ids) - 1,
        # The path has milliseconds.
        "posted": datetime.strptime(f"{time}000", "%Y%m%d%H%M%S%f").replace(tzinfo=UTC),
        "edited": None,
        "author": None,
        "text": None,
        "html": None,
        "renderer": RENDERER,
        "state": _EMPTY,
        "reply_count": 1,
    }


def _is_earlier(place: Comment, before: str | None) -> bool:
    """Return whether an earlier page has a place: it is the comment `before`, or above it."""
    if before is None:
        return False
    path = place["full_slug"]
    return before == path or before.startswith(f"{path}/")
