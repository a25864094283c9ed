"""The command that joins each person's blocks of comments and of the social feed into one list."""

from typing import Any

from chalicelib.comments.people import blocking
from chalicelib.runtime import Runtime
from chalicelib.social.graph import blocks

_USERS, _SITES = "users", "sites"
_AT_ONCE = 1_000


def join(runtime: Runtime, after: str, most: int = _AT_ONCE) -> dict[str, Any]:
    """Join up to `most` lists of blocks of release 0.3.0 into one list for each person.

    First come the lists of the social feed, then the lists of sites. Returns the number of `lists`,
    and `next`, the argument `after` of the next call; null at the end.
    """
    where, _, last = after.partition(":")
    if where != _SITES:
        found = blocks.join(runtime, last, most)
        further = f"{_USERS}:{found[-1]}" if len(found) == most else f"{_SITES}:"
        return {"lists": len(found), "next": further}
    found = blocking.join(runtime, blocks, last, most)
    return {"lists": len(found), "next": f"{_SITES}:{found[-1]}" if len(found) == most else None}
