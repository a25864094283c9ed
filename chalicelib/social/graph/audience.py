"""Audiences of a user's posts, and a reader's relation to their authors."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, NotRequired, TypedDict

from pydantic import AfterValidator, Field, StringConstraints

from chalicelib.bounds import BOUNDS

MAX_CIRCLES = BOUNDS.social.circles
NOBODY: frozenset[str] = frozenset()


class CompleteSince(TypedDict):
    """The instants from which on the stored news, and what was `sent` to a user, are complete.

    Posts before them are read from the posts. The instants only ever rise. `design` has stored
    the news; without it, any has.
    """

    design: NotRequired[str]
    news: datetime
    sent: datetime


@dataclass(frozen=True)
class Reader:
    """What a reader is to the authors of some posts; without an id, nobody in particular.

    `circled_by` has, by author, the keys of that author's circles that the reader is in;
    `following` the authors that the reader follows; `blocked` the authors who block the reader
    or are blocked, and `blocks` says whether there is a block with anybody; `kept` the posts
    whose audience was recorded at posting and has the reader in it; `complete_since` the instants
    of the reader's stored news.
    """

    id: str | None = None
    circled_by: Mapping[str, frozenset[str]] = field(default_factory=dict)
    following: frozenset[str] = NOBODY
    blocked: frozenset[str] = NOBODY
    blocks: bool = False
    kept: frozenset[str] = NOBODY
    complete_since: CompleteSince | None = None


PUBLIC = "*public*"
ALL_CIRCLES = "*circles*"

AudienceName = Annotated[
    str, StringConstraints(pattern=r"^(\*public\*|\*circles\*|[A-Za-z0-9_-]{1,64})$")
]


def _unmixed(circles: list[str]) -> list[str]:
    if len(circles) > 1 and not {PUBLIC, ALL_CIRCLES}.isdisjoint(circles):
        raise ValueError(f"{PUBLIC} and {ALL_CIRCLES} must each be the only value")
    if len(set(circles)) < len(circles):
        raise ValueError("duplicate values are not allowed")
    return circles


Audience = Annotated[
    list[AudienceName], Field(min_length=1, max_length=MAX_CIRCLES), AfterValidator(_unmixed)
]


def is_in_circles(reader: Reader, owner_id: str, audience: list[str]) -> bool:
    """Return whether a reader is in one of these circles of an owner, or in any if they say so."""
    circles = reader.circled_by.get(owner_id, NOBODY)
    if owner_id in reader.blocked:
        return False
    return bool(circles) if audience == [ALL_CIRCLES] else not circles.isdisjoint(audience)
