"""Blocks of comments and of the social feed: one list for each person."""

from typing import Any

from chalicelib.comments.people import blocking
from chalicelib.runtime import Runtime
from chalicelib.social.graph import blocks

_USERS, _SITES = "users", "sites"
_AT_ONCE = 1_000


def join(runtime: Runtime, after: str, most: int = _AT_ONCE) -> dict[str, Any]:
    """Join lists of blocks of 0.3.0 into one list a person, some at a time.

    Returns the number of `lists`, and `next`, the place to continue after, or null.
    """
    where, _, last = after.partition(":")
    if where != _SITES:
        found = blocks.join(runtime, last, most)
        further = f"{_USERS}:{found[-1]}" if len(found) == most else f"{_SITES}:"
        return {"lists": len(found), "next": further}
    found = blocking.join(runtime, blocks, last, most)
    return {"lists": len(found), "next": f"{_SITES}:{found[-1]}" if len(found) == most else None}
