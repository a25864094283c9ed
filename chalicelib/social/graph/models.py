"""Request bodies and answers of users and circles."""

from typing import Annotated, Any, TypedDict

from pydantic import (
    Field,
    StringConstraints,
)

from chalicelib.database import Document
from chalicelib.http import Input
from chalicelib.texts import Line, Paragraphs, PersonName, at_most

MAX_CIRCLES = 100


CircleId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class UserProfile(Input):
    """What people say of themselves."""

    location: Line | None = None
    about: Annotated[Paragraphs, at_most(1_000)] | None = None
    age: Annotated[int, Field(ge=0, le=150)] | None = None
    interests: Annotated[list[Line], Field(max_length=20)] | None = None


class UserSettings(Input):
    """A user's own name and profile; what is left out stays."""

    name: PersonName | None = None
    profile: UserProfile | None = None


class CircleSettings(Input):
    """A circle's name, which may be any line of text: it is never a key."""

    name: PersonName


class FollowCounts(TypedDict):
    """How many a user has of each."""

    followers: int
    following: int
    circles: int
    memberships: int


class PublicUser(TypedDict):
    """What everyone may read of a user."""

    _id: str
    name: str
    profile: Document
    counts: FollowCounts


def user_answer(user: PublicUser) -> dict[str, Any]:
    """Return a user as the API shows it to everyone."""
    counts = {"followers": user["counts"]["followers"], "following": user["counts"]["following"]}
    return {"id": user["_id"], "name": user["name"], "profile": user["profile"], "counts": counts}
