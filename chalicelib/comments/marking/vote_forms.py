"""Public shapes of votes and reactions: the requests, and the answers without the comments."""

from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib.comments.forms import CommentId
from chalicelib.comments.mark_answers import MarksAnswer
from chalicelib.http import Input, PageQuery
from chalicelib.http.batches import batch_of
from chalicelib.http.paging import Next
from chalicelib.marks.shapes import REACTION_KEY
from chalicelib.people.ids import UserId
from chalicelib.texts import ShownName

MAX_MARKED = 200
MAX_REACTED = 50

# A key of a site's present or former reactions.
Key = Annotated[
    str,
    StringConstraints(pattern=REACTION_KEY),
    Field(description="The key of a reaction.", examples=["heart"]),
]


class CommentVote(Input):
    """A vote on a comment, which replaces the caller's last vote."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"value": 1}]})

    # No Literal, which would accept `true`, since it equals 1.
    value: int = Field(
        strict=True, ge=-1, le=1, description="1 for it, -1 against it, 0 to withdraw."
    )


class MarksQuery(Input):
    """The comments whose votes and reactions are asked for, separated by commas."""

    ids: Annotated[tuple[CommentId, ...], batch_of(CommentId, MAX_MARKED)] = Field(
        description="Ids, separated by commas."
    )


class ReactedQuery(PageQuery):
    """The query of the people who reacted in one way."""

    limit: int = Field(MAX_REACTED, ge=1, le=MAX_REACTED, description="The most of one page.")


class NodeMarksAnswer(TypedDict):
    """The marks of a page, and of some of its comments by their ids."""

    page: MarksAnswer
    comments: Annotated[dict[CommentId, MarksAnswer], Field(max_length=MAX_MARKED)]


class ReactorAnswer(TypedDict):
    """A person who reacted."""

    id: UserId
    name: Annotated[
        ShownName | None, Field(description="Null if they have not written at the site.")
    ]


class ReactedAnswer(TypedDict):
    """A page of the people who reacted in one way, in the order of their ids.

    It may be short before the end: it omits people whom the caller blocks. At the end,
    `next` is null.
    """

    people: Annotated[list[ReactorAnswer], Field(max_length=MAX_REACTED)]
    next: Next
