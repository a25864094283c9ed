"""Flags on visible comments: they queue a comment, and with enough weight they hold it back.

An entry has the number of undecided flags (`reports`) and their weight (`flags`). A moderator who
shows a comment clears its text: flags on this text then need twice the weight. Each further
decision to show the text doubles the weight again, if there were flags.
"""

from collections.abc import Mapping
from typing import Any

from chalicelib.comments.entries.rows import EXCERPT_CHARACTERS, WHILE_QUEUED, revision_of
from chalicelib.comments.shapes import Comment, Node
from chalicelib.database import Document
from chalicelib.people.ids import IMPORTED

# Decisions double the weight at most 10 times, which is about a thousandfold.
_MOST_DOUBLED = 10
_REPORTS: Document = {"$ifNull": ["$reports", 0]}
_IS_CLEARED: Document = {
    "$eq": [{"$ifNull": ["$cleared.revision", -1]}, {"$ifNull": ["$revision", 0]}]
}


def owes(held_from: int) -> Document:
    """Return the condition of entries with flags that demand to hold back or queue the comment.

    `held_from`: the weight in hundredths that flags need on an uncleared text.
    """
    doubled = {"$cond": [_IS_CLEARED, {"$pow": [2, "$cleared.times"]}, 1]}
    is_over = {"$gte": [{"$ifNull": ["$flags", 0]}, {"$multiply": [held_from, doubled]}]}
    is_unqueued = {"$and": [{"$gt": [_REPORTS, 0]}, {"$ne": ["$queue", "flagged"]}]}
    return {"$or": [is_over, is_unqueued]}


def is_over(entry: Mapping[str, Any], held_from: int) -> bool:
    """Return whether the flags on a comment weigh enough to hold it back."""
    cleared = entry.get("cleared") or {}
    is_cleared = cleared.get("revision") == entry.get("revision", 0)
    doubled = 2 ** cleared["times"] if is_cleared else 1
    return bool(entry.get("flags", 0) >= held_from * doubled)


def is_protected(node: Node, entry: Mapping[str, Any], comment: Comment) -> bool:
    """Return whether flags never hold back a comment: it is by staff, pinned or featured."""
    author = comment["author"]
    # Readers see a role from an imported file, but such a role protects nothing.
    is_of_staff = author is not None and "role" in author and not author["id"].startswith(IMPORTED)
    return is_of_staff or "featured" in entry or comment["id"] in node.get("pinned", [])


def queue_fields(comment: Comment) -> dict[str, Any]:
    """Return the queue fields of a reported visible comment; empty without author or text."""
    author, text = comment["author"], comment["text"]
    if author is None or text is None:
        return {}
    return {
        "queue": "flagged",
        "excerpt": text[:EXCERPT_CHARACTERS],
        "author_name": author["name"],
        "edited": comment["edited"],
        "reasons": ["flagged"],
    }


def report_fields(comment: Comment) -> Document:
    """Return expressions that queue a visible comment's entry if it has reports, or unqueue it."""
    fields = queue_fields(comment)
    values: Document = {name: {"$literal": value} for name, value in fields.items()}
    since = {"$ifNull": ["$queued_at", {"$ifNull": ["$hold_at", comment["posted"]]}]}
    values |= {"queued_at": since, "claimed": {"$ifNull": ["$claimed", "$$REMOVE"]}}
    is_queued: Document = {"$and": [{"$gt": [_REPORTS, 0]}, bool(fields)]}
    left = dict.fromkeys(WHILE_QUEUED, "$$REMOVE") | {"queue": None}
    return {
        name: {"$cond": [is_queued, values.get(name, "$$REMOVE"), other]}
        for name, other in left.items()
    }


def unqueue_stages() -> list[Document]:
    """Return the stages that take a visible comment without reports out of the queue."""
    stays: Document = {"$or": [{"$ne": ["$state", "visible"]}, {"$gt": [_REPORTS, 0]}]}
    left = dict.fromkeys(WHILE_QUEUED, "$$REMOVE") | {"queue": None}
    fields = {name: {"$cond": [stays, f"${name}", other]} for name, other in left.items()}
    return [{"$set": fields}]


def decision_update(comment: Comment, *, is_cleared: bool) -> list[Document]:
    """Return the update of an entry after a moderator's decision on this version of its comment.

    The update resets the flags. `is_cleared`: the moderator shows the comment.
    """
    revision = revision_of(comment)
    more = {"$cond": [{"$gt": [{"$add": [_REPORTS, {"$ifNull": ["$flags", 0]}]}, 0]}, 1, 0]}
    is_again: Document = {"$eq": ["$cleared.revision", revision]}
    times = {"$cond": [is_again, {"$min": [{"$add": ["$cleared.times", more]}, _MOST_DOUBLED]}, 1]}
    cleared: list[Document] = [{"$set": {"cleared": {"revision": revision, "times": times}}}]
    none: Document = {"flags": 0, "reports": 0, "hold_at": "$$REMOVE"}
    return [*(cleared if is_cleared else []), {"$set": none}, *unqueue_stages()]
