"""Who may see a post: the rules alone, on what was read before."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chalicelib.social.models import ALL_CIRCLES, PUBLIC

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Reader:
    """What a reader is to the authors of some posts; without an id, nobody in particular.

    `circled_by` has, by author, the ids of that author's circles that the reader is in;
    `following` those of the authors whom the reader follows; `blocked` those on the other
    side of a block, whoever made it.
    """

    id: str | None = None
    circled_by: Mapping[str, frozenset[str]] = field(default_factory=dict)
    following: frozenset[str] = _NONE
    blocked: frozenset[str] = _NONE


def may_see(reader: Reader, post: Mapping[str, Any]) -> bool:
    """Tell whether the reader may see a post, by today's circles."""
    author = post["by"]["id"]
    if reader.id == author:
        return True
    if author in reader.blocked:
        return False
    if reader.id is not None and reader.id == post["wall"]:
        return True
    circles = reader.circled_by.get(author, _NONE)
    if post["circles"] == [PUBLIC]:
        return True
    if post["circles"] == [ALL_CIRCLES]:
        return bool(circles)
    return not circles.isdisjoint(post["circles"])
