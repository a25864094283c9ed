"""Names that the application gave to its things, for the actions about them."""

from typing import Annotated, TypedDict

from pydantic import (
    ConfigDict,
    Field,
    StringConstraints,
)

from chalicelib.database import Collection
from chalicelib.http import Input
from chalicelib.texts import Line, at_most

# User ids have this form too: a ref of the type `user` is a user.
RefId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_|:.-]{1,64}$")]


Tag = Annotated[Line, at_most(64)]


Name = Line


def distinct(values: list[str]) -> list[str]:
    """Return the list unchanged; raises ValueError for duplicate values."""
    if len(set(values)) < len(values):
        raise ValueError("duplicate values are not allowed")
    return values


class RefSettings(Input):
    """The name of a thing of the application, for every action about it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Nils Aune"}]})

    name: Name = Field(description="At most 200 characters on one line.")


class NamedRef(TypedDict):
    """The latest name of a renamed ref that is no user."""

    _id: str
    name: str


REFS = Collection("feed.ref", NamedRef, shard_key={"_id": "hashed"})
