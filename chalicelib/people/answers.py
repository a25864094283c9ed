"""The forms in which the API answers about an erasure and an export."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.http import MAX_PAGE
from chalicelib.http.pages import Next
from chalicelib.people.follows import ExportEntry


class ErasureAnswer(TypedDict):
    """How far the erasure of a person has come."""

    remaining: Annotated[
        int,
        Field(
            ge=0,
            description="Documents that are the person's or name the person; 0 when all are gone.",
            examples=[17],
        ),
    ]


class ExportAnswer(TypedDict):
    """A page of what is stored of a person."""

    entries: Annotated[list[ExportEntry], Field(max_length=MAX_PAGE)]
    next: Next
