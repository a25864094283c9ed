"""The names that the application gave to what actions are about."""

from typing import Annotated, TypedDict

from pydantic import (
    ConfigDict,
    Field,
    StringConstraints,
)

from chalicelib.database import Collection
from chalicelib.http import Input
from chalicelib.texts import Line, at_most

# Also of users, whose ids are of this form: a ref of the type `user` is one.
RefId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_|:.-]{1,64}$")]


Tag = Annotated[Line, at_most(64)]


Name = Line


def distinct(values: list[str]) -> list[str]:
    """Return a list as it is; raises ValueError for duplicate values."""
    if len(set(values)) < len(values):
        raise ValueError("duplicate values are not allowed")
    return values


class RefSettings(Input):
    """The name by which every action calls something that the application keeps."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Nils Aune"}]})

    name: Name = Field(description="At most 200 characters on one line.")


class NamedRef(TypedDict):
    """The latest name of a ref, no user, that was ever renamed."""

    _id: str
    name: str


REFS = Collection("feed.ref", NamedRef, shard_key={"_id": "hashed"})
