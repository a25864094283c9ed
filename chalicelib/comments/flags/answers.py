"""The forms in which flags are answered, to moderators alone."""

from datetime import datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.comments.flags.models import MAX_FLAGS, MAX_NOTE_CHARACTERS
from chalicelib.comments.shapes import FlagReason
from chalicelib.http.paging import Next
from chalicelib.marks.shapes import Outcome
from chalicelib.people.ids import UserId


class FlagAnswer(TypedDict):
    """Somebody's flag on a comment."""

    by: UserId
    reason: FlagReason
    note: Annotated[str, Field(max_length=MAX_NOTE_CHARACTERS)]
    flagged_at: datetime
    weight: Annotated[float, Field(ge=0, description="What it weighed when it was placed.")]
    outcome: Annotated[
        Outcome | None, Field(description="What a moderator made of it; null while it waits.")
    ]


class FlagsAnswer(TypedDict):
    """A page of the flags of a comment, in the order of the ids of those who placed them."""

    weight: Annotated[float, Field(ge=0, description="Of all that wait, on this page or not.")]
    flags: Annotated[list[FlagAnswer], Field(max_length=MAX_FLAGS)]
    next: Next
