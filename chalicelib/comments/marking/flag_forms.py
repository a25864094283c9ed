"""Public shapes of flags: a reader's request to flag, and the list of flags for moderators."""

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from chalicelib.comments.shapes import FlagReason
from chalicelib.http import Input, PageQuery
from chalicelib.http.paging import Next
from chalicelib.marks.shapes import Outcome
from chalicelib.people.ids import UserId
from chalicelib.texts import Paragraphs, at_most

MAX_NOTE_CHARACTERS = 500
MAX_FLAGS = 50


class CommentFlag(Input):
    """A report of a comment to its site's moderators, which replaces the caller's last report."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"reason": "spam", "note": "The third of these today."}]}
    )

    reason: FlagReason
    note: Annotated[Paragraphs, at_most(MAX_NOTE_CHARACTERS)] | None = Field(
        None, description="For moderators alone; null for none."
    )


class FlagsQuery(PageQuery):
    """The query of the flags of a comment."""

    limit: int = Field(MAX_FLAGS, ge=1, le=MAX_FLAGS, description="The most of one page.")


class FlagAnswer(TypedDict):
    """A reader's flag on a comment."""

    by: UserId
    reason: FlagReason
    note: Annotated[str, Field(max_length=MAX_NOTE_CHARACTERS)]
    flagged_at: datetime
    weight: Annotated[float, Field(ge=0, description="What it weighed when it was placed.")]
    outcome: Annotated[
        Outcome | None, Field(description="What a moderator made of it; null while it waits.")
    ]


class FlagsAnswer(TypedDict):
    """A page of the flags of a comment, in the order of their readers' ids."""

    weight: Annotated[float, Field(ge=0, description="Of all that wait, on this page or not.")]
    flags: Annotated[list[FlagAnswer], Field(max_length=MAX_FLAGS)]
    next: Next
