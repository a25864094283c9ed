"""Audiences of posts, and a reader's relations to the authors of posts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, NotRequired, TypedDict

from pydantic import AfterValidator, Field, StringConstraints

from chalicelib.bounds import BOUNDS

MAX_CIRCLES = BOUNDS.social.circles
NOBODY: frozenset[str] = frozenset()


class CompleteSince(TypedDict):
    """The times from which a user's stored `news`, and the posts `sent` to the user, are complete.

    Pages read earlier posts from the collection of posts. The times only rise. `design` is the
    design that stored the news; missing: any design.
    """

    design: NotRequired[str]
    news: datetime
    sent: datetime


@dataclass(frozen=True)
class Reader:
    """A reader's relations to the authors of some posts. None as `id`: an anonymous reader.

    - `circled_by`: by author, the keys of the author's circles that have the reader
    - `following`: the authors whom the reader follows
    - `blocked`: the authors who block the reader, or whom the reader blocks
    - `blocks`: the reader has a block with any user, in either direction
    - `kept`: the ids of posts with the reader in the audience recorded at posting
    - `complete_since`: the times from which the reader's stored news are complete
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


def _check_audience(circles: list[str]) -> list[str]:
    if len(circles) > 1 and not {PUBLIC, ALL_CIRCLES}.isdisjoint(circles):
        raise ValueError(f"{PUBLIC} and {ALL_CIRCLES} must each be the only value")
    if len(set(circles)) < len(circles):
        raise ValueError("duplicate values are not allowed")
    return circles


Audience = Annotated[
    list[AudienceName], Field(min_length=1, max_length=MAX_CIRCLES), AfterValidator(_check_audience)
]


def is_in_circles(reader: Reader, owner_id: str, audience: list[str]) -> bool:
    """Return whether a reader is in one of the owner's circles in `audience`.

    `*circles*` alone means any circle. A block between the two means False.
    """
    circles = reader.circled_by.get(owner_id, NOBODY)
    if owner_id in reader.blocked:
        return False
    return bool(circles) if audience == [ALL_CIRCLES] else not circles.isdisjoint(audience)
