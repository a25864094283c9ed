"""The types of posts, each with the model of its detail."""

from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    Field,
    model_validator,
)

from chalicelib.http import Input
from chalicelib.texts import Line, Paragraphs, Url, at_most

# With three comments a copy then has at most 60 KB, and a wall's document of 100 copies 6 MB.
MAX_POST_CHARACTERS = 5_000


PostText = Annotated[Paragraphs, at_most(MAX_POST_CHARACTERS)]


class Status(Input):
    """A plain update."""

    text: PostText


class Link(Input):
    """A page elsewhere."""

    url: Url
    title: Line | None = None
    text: PostText | None = None


class Photo(Input):
    """A picture that is kept elsewhere."""

    url: Url
    text: PostText | None = None


class CheckIn(Input):
    """Being at a place; its position in degrees is optional."""

    place: Line
    latitude: Annotated[float, Field(ge=-90, le=90)] | None = None
    longitude: Annotated[float, Field(ge=-180, le=180)] | None = None
    text: PostText | None = None

    @model_validator(mode="after")
    def _check_position(self) -> Self:
        if (self.latitude is None) != (self.longitude is None):
            raise ValueError("latitude and longitude must be given together")
        return self


def distinct(values: list[str]) -> list[str]:
    """Return a list as it is; raises ValueError for duplicate values."""
    if len(set(values)) < len(values):
        raise ValueError("duplicate values are not allowed")
    return values


class Poll(Input):
    """A question with two to twenty answers to choose from."""

    question: Line
    options: Annotated[list[Line], Field(min_length=2, max_length=20), AfterValidator(distinct)]


# The types of posts by name, each with the model of its `detail`. An application adds its own
# before the first request; a detail has to stay below 20 KB.
POST_TYPES: dict[str, type[Input]] = {
    "status": Status,
    "link": Link,
    "photo": Photo,
    "checkin": CheckIn,
    "poll": Poll,
}
