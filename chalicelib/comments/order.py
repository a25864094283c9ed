"""The order of a discussion: by number, and depth-first by the path of numbers.

The path is the `full_slug` of MongoDB Applied Design Patterns, "Storing Comments", with exact
segments: time, number and id, all of fixed width, so that strings sort as discussions do.
"""

from datetime import datetime
from typing import Any

from chalicelib.comments.shapes import Comment, Node

_TIME_DIGITS = 17
_SEQ_DIGITS = 10
# The character after "/": all descendants of a path sort before the path with this character.
_AFTER_SLASH = "0"


def segment(posted: datetime, seq: int, comment_id: str) -> str:
    """Return a comment's own segment of a path.

    `posted` never runs backwards within a node (`nodes.take_seq`), so the number decides.
    """
    milliseconds = posted.microsecond // 1000
    return f"{posted:%Y%m%d%H%M%S}{milliseconds:03}:{seq:0{_SEQ_DIGITS}}:{comment_id}"


def root_seq(full_slug: str) -> int:
    """Return the number of a path's root comment."""
    return int(full_slug[_TIME_DIGITS + 1 : _TIME_DIGITS + 1 + _SEQ_DIGITS])


def root_id(full_slug: str) -> str:
    """Return the id of a path's root comment."""
    return full_slug.partition("/")[0].rpartition(":")[2]


def thread_range(full_slug: str) -> tuple[str, str]:
    """Return the half-open range of paths of a comment and its descendants."""
    return full_slug, full_slug + _AFTER_SLASH


def position(node: Node, comment: Comment) -> tuple[Any, ...]:
    """Return the position of a comment in the node's listings, as cursors store it."""
    if node["threaded"]:
        return (root_seq(comment["full_slug"]), comment["full_slug"])
    return (comment["seq"],)
