"""Profiles: fields of registered kinds, each public or for some circles of its owner.

An application registers its own fields before the first request, in a module that `app.py`
imports, and before `script/openapi`:

    register("employer", Annotated[Line, Field(description="Where they work.")])

The value of a field is anything that JSON and BSON both have: a text, a number, a list of them.
"""

import functools
import re
from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, Self

from pydantic import Field, GetCoreSchemaHandler, create_model, model_validator
from pydantic_core import CoreSchema
from typing_extensions import TypedDict

from chalicelib.assets import pictures
from chalicelib.assets.pictures import PictureUrl
from chalicelib.database import Document
from chalicelib.http import Input
from chalicelib.social.graph.audience import PUBLIC, Audience, Reader, is_in_circles
from chalicelib.texts import Line, Paragraphs, at_most

MAX_INTERESTS = 20
# Every read of a user reads these bytes, and the document also has circles and followers.
MAX_PROFILE_BYTES = 10_000
MAX_FIELDS = 50
_FIELD_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")

# The fields of profiles by name, each with the type of its value.
PROFILE_FIELDS: dict[str, Any] = {}


def register(name: str, kind: Any) -> None:
    """Register a field of profiles, so that every user may fill it in.

    Raises ValueError for a malformed name, for a registered name, and for too many fields.
    """
    if not _FIELD_NAME.fullmatch(name):
        raise ValueError(f"{name!r} has to be like `home_town`")
    if name in PROFILE_FIELDS:
        raise ValueError(f"the field {name} is registered already")
    if len(PROFILE_FIELDS) == MAX_FIELDS:
        raise ValueError(f"a profile has at most {MAX_FIELDS} fields")
    PROFILE_FIELDS[name] = kind


register("location", Annotated[Line, Field(description="At most 200 characters.")])
register(
    "about",
    Annotated[
        Paragraphs,
        at_most(1_000),
        Field(description="At most 1,000 characters, of several lines."),
    ],
)
register("age", Annotated[int, Field(ge=0, le=150, description="In years.")])
register(
    "interests",
    Annotated[
        list[Line],
        Field(max_length=MAX_INTERESTS, description="At most 200 characters each."),
    ],
)

register("picture", PictureUrl)


def picture_fields() -> frozenset[str]:
    """Return the names of the fields that hold a picture's URL."""
    return pictures.fields_in(PROFILE_FIELDS)


class _Profile(Input):
    """A user's profile; a missing or null field says nothing."""

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        if len(self.model_dump_json(exclude_none=True).encode()) > MAX_PROFILE_BYTES:
            raise ValueError(f"a profile must have at most {MAX_PROFILE_BYTES:,} bytes")
        return self


class _Given:
    """Marks a field that accepts a profile of the registered fields."""

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(_model("UserProfile", tuple(PROFILE_FIELDS.items())))


class _Circles:
    """Marks a field that accepts the audience of each registered field."""

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(_audiences(tuple(PROFILE_FIELDS)))


class _Shown:
    """Marks a field that answers with a profile of the registered fields."""

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(_shape("ProfileAnswer", PROFILE_FIELDS))


class _ShownCircles:
    """Marks a field that answers with the audience of each registered field."""

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        audiences = dict.fromkeys(PROFILE_FIELDS, Audience)
        return handler.generate_schema(_shape("ProfileCirclesAnswer", audiences))


def _model(name: str, fields: tuple[tuple[str, Any], ...]) -> type[Input]:
    given: dict[str, Any] = {field: (kind | None, None) for field, kind in fields}
    return create_model(name, __base__=_Profile, __doc__=_Profile.__doc__, **given)


@functools.cache
def _audiences(names: tuple[str, ...]) -> type[Input]:
    given: dict[str, Any] = dict.fromkeys(names, (Audience | None, None))
    description = "The audience of each field; a missing or null field is public."
    return create_model("ProfileCircles", __base__=Input, __doc__=description, **given)


def _shape(name: str, fields: Mapping[str, Any]) -> Any:
    make: Any = TypedDict
    shape = make(name, {field: NotRequired[kind] for field, kind in fields.items()})
    shape.__doc__ = "A user's profile, without fields that the user has not filled in."
    return shape


# A profile and its audiences: as sent, and as answered.
SentProfile = Annotated[Input, _Given()]
SentCircles = Annotated[Input, _Circles()]
ShownProfile = Annotated[Document, _Shown()]
ShownCircles = Annotated[Document, _ShownCircles()]


def select_restricted(circles: Input) -> dict[str, list[str]]:
    """Return the circles of each field that is not public."""
    given: dict[str, list[str]] = circles.model_dump(exclude_none=True)
    return {name: audience for name, audience in given.items() if audience != [PUBLIC]}


def readable(
    profile: Mapping[str, Any], circles: Mapping[str, list[str]], owner_id: str, reader: Reader
) -> Document:
    """Return the registered fields of a profile that a reader may read; the owner reads all.

    `circles` has the audience of each restricted field; other fields are public. `reader` has the
    relations to the owner.
    """
    return {
        name: value
        for name, value in profile.items()
        if name in PROFILE_FIELDS
        and (
            name not in circles
            or reader.id == owner_id
            or is_in_circles(reader, owner_id, circles[name])
        )
    }
