"""What the routes of flags take."""

from typing import Annotated

from pydantic import ConfigDict, Field

from chalicelib.comments.shapes import FlagReason
from chalicelib.http import Input, PageQuery
from chalicelib.texts import Paragraphs, at_most

MAX_NOTE_CHARACTERS = 500
MAX_FLAGS = 50


class CommentFlag(Input):
    """A report of a comment to its site's moderators, which replaces the caller's last."""

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
