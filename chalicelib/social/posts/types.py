"""Types of posts with the models of their details; an application may register more."""

from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from chalicelib.assets import pictures
from chalicelib.assets.pictures import PictureUrl
from chalicelib.http import Input
from chalicelib.settings import InvalidSettings
from chalicelib.texts import Line, Paragraphs, Url, at_most, look_of

# A copy with three comments then has at most 60 KB, and a wall's document of 100 copies 6 MB.
MAX_POST_CHARACTERS = 5_000
MAX_OPTIONS = 20


PostText = Annotated[Paragraphs, at_most(MAX_POST_CHARACTERS)]


def _example(**detail: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [detail]})


class StatusDetail(Input):
    """A plain update."""

    model_config = _example(text="214 eiders off the point this morning.")

    text: PostText = Field(description="Plain text, of several lines.")


class LinkDetail(Input):
    """A page elsewhere."""

    model_config = _example(
        url="https://harbour-post.example/news/lighthouse-cafe",
        title="Council votes to lease the old lighthouse",
        text="Read page 14 before you shout.",
    )

    url: Url
    title: Line | None = None
    text: PostText | None = Field(None, description="What the author says to it.")


class PhotoDetail(Input):
    """A picture, kept elsewhere or uploaded."""

    model_config = _example(
        url="https://photos.example/tobias/flamingo.jpg", text="One very confused flamingo."
    )

    url: PictureUrl
    text: PostText | None = Field(None, description="What the author says to it.")


class CheckInDetail(Input):
    """A visit to a place; its position in degrees is optional."""

    model_config = _example(place="The harbour wall", latitude=54.79, longitude=9.43)

    place: Line = Field(description="Its name.")
    latitude: Annotated[float, Field(ge=-90, le=90)] | None = Field(
        None, description="Degrees north; given together with `longitude`."
    )
    longitude: Annotated[float, Field(ge=-180, le=180)] | None = Field(
        None, description="Degrees east; given together with `latitude`."
    )
    photo: PictureUrl | None = None
    text: PostText | None = Field(None, description="What the author says to it.")

    @model_validator(mode="after")
    def _check_position(self) -> Self:
        if (self.latitude is None) != (self.longitude is None):
            raise ValueError("latitude and longitude must be given together")
        return self


def distinct(values: list[str]) -> list[str]:
    """Return the list unchanged; raise ValueError if two values look the same."""
    if len(set(map(look_of, values))) < len(values):
        raise ValueError("duplicate values are not allowed")
    return values


class PollDetail(Input):
    """A question with two to twenty options; `PUT /posts/{post}/vote` chooses one."""

    model_config = _example(question="Thursday's ride?", options=["18:00", "18:30"])

    question: Line
    options: Annotated[
        list[Line], Field(min_length=2, max_length=MAX_OPTIONS), AfterValidator(distinct)
    ] = Field(description="Each different from the others.")


# The types of posts by name, each with the model of its `detail`. An application adds its own
# before the first request, and before `script/openapi`; a detail has to stay below 20 KB.
POST_TYPES: dict[str, type[Input]] = {
    "status": StatusDetail,
    "link": LinkDetail,
    "photo": PhotoDetail,
    "checkin": CheckInDetail,
    "poll": PollDetail,
}


def picture_fields(name: str) -> frozenset[str]:
    """Return the fields of a type that hold a picture's URL; none for an unknown type."""
    return pictures.fields_of(POST_TYPES.get(name))


def is_poll(name: str) -> bool:
    """Return whether posts of a type have votes: its model is PollDetail or extends PollDetail."""
    model = POST_TYPES.get(name)
    return model is not None and issubclass(model, PollDetail)


def is_allowed(name: str, allowed: Sequence[str]) -> bool:
    """Return whether a deployment accepts new posts of a type; an empty list allows all."""
    return not allowed or name in allowed


def check_allowed(allowed: Sequence[str]) -> None:
    """Raise InvalidSettings if a deployment names a type that is not registered."""
    unknown = [name for name in allowed if name not in POST_TYPES]
    if unknown:
        problem = f"PLAZA_POST_TYPES: no type is called {', '.join(unknown)}"
        raise InvalidSettings(f"{problem}; there are {', '.join(POST_TYPES)}")
