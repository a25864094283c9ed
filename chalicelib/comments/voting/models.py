"""What the routes of votes and reactions take."""

from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints

from chalicelib.comments.models import CommentId
from chalicelib.http import Input, PageQuery
from chalicelib.marks.shapes import REACTION_KEY

MAX_MARKED = 200
MAX_REACTED = 50

# A key that a site offers, or offered once.
Key = Annotated[
    str,
    StringConstraints(pattern=REACTION_KEY),
    Field(description="The key of a reaction.", examples=["heart"]),
]


class CommentVote(Input):
    """A vote on a comment, which replaces the caller's last."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"value": 1}]})

    # An int, since `true` is equal to 1.
    value: int = Field(
        strict=True, ge=-1, le=1, description="1 for it, -1 against it, 0 to withdraw."
    )


def _split(ids: object) -> object:
    return tuple(ids.split(",")) if isinstance(ids, str) else ids


class MarksQuery(Input):
    """The comments whose votes and reactions are asked for, separated by commas."""

    ids: Annotated[
        tuple[CommentId, ...],
        Field(min_length=1, max_length=MAX_MARKED, description="Ids, separated by commas."),
        BeforeValidator(_split),
    ]


class ReactedQuery(PageQuery):
    """The query of the people who reacted in one way."""

    limit: int = Field(MAX_REACTED, ge=1, le=MAX_REACTED, description="The most of one page.")
