"""Whom something of a user's is for: everybody, all circles of the user, or some of them."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from chalicelib.social.graph.models import MAX_CIRCLES
from chalicelib.social.graph.reader import NOBODY, Reader

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
