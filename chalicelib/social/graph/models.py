"""Request bodies of users and circles, and the counts that users have."""

from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib.bounds import BOUNDS
from chalicelib.http import Input
from chalicelib.texts import PersonName

MAX_CIRCLES = BOUNDS.social.circles

CircleId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class CircleSettings(Input):
    """A circle's name, which may be any line of text: it is never a key."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Birders"}]})

    name: PersonName = Field(description="At most 100 characters on one line.")


class FollowCounts(TypedDict):
    """How many a user has of each."""

    followers: int
    following: int
    circles: int
    memberships: int
