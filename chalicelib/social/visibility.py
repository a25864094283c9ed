"""Who may see a post: the rules alone, on what was read before."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chalicelib.social.models import ALL_CIRCLES, AT_POST, PUBLIC

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Reader:
    """What a reader is to the authors of some posts; without an id, nobody in particular.

    `circled_by` has, by author, the ids of that author's circles that the reader is in;
    `following` those of the authors whom the reader follows; `blocked` those on the other
    side of a block, whoever made it; `kept` the posts whose audience was written down when
    they were posted, and has the reader in it.
    """

    id: str | None = None
    circled_by: Mapping[str, frozenset[str]] = field(default_factory=dict)
    following: frozenset[str] = _NONE
    blocked: frozenset[str] = _NONE
    kept: frozenset[str] = _NONE


def may_see(reader: Reader, post: Mapping[str, Any]) -> bool:
    """Tell whether the reader may see a post: by today's circles, or by those at posting."""
    author = post["by"]["id"]
    if reader.id == author:
        return True
    if author in reader.blocked:
        return False
    if reader.id is not None and reader.id == post["wall"]:
        return True
    return post["circles"] == [PUBLIC] or _is_in_audience(reader, post)


def _is_in_audience(reader: Reader, post: Mapping[str, Any]) -> bool:
    if post["audience"] == AT_POST:
        return post["id"] in reader.kept
    circles = reader.circled_by.get(post["by"]["id"], _NONE)
    if post["circles"] == [ALL_CIRCLES]:
        return bool(circles)
    return not circles.isdisjoint(post["circles"])


def was_sent(reader: Reader, post: Mapping[str, Any]) -> bool:
    """Tell whether a post was sent to the reader: to their wall, or to a circle they are in."""
    if reader.id == post["by"]["id"]:
        return False
    if reader.id == post["wall"]:
        return True
    return post["circles"] != [PUBLIC] and _is_in_audience(reader, post)


def without_hidden(reader: Reader, post: dict[str, Any]) -> dict[str, Any]:
    """Return a post without the comments of those on the other side of a block."""
    return {**post, "comments": [each for each in post["comments"] if sees(reader, each)]}


def sees(reader: Reader, comment: Mapping[str, Any]) -> bool:
    """Tell whether a comment on a post that the reader may see is shown to the reader."""
    return comment["by"]["id"] not in reader.blocked
