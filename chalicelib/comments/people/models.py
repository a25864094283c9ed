"""What a moderator sends of a person."""

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator

from chalicelib.comments.models import ActReason
from chalicelib.comments.people.rows import (
    Status,
)
from chalicelib.comments.shapes import MAX_BADGE_CHARACTERS, MAX_BADGES, MAX_NOTE_CHARACTERS
from chalicelib.http import Input
from chalicelib.instants import Instant
from chalicelib.texts import Line, Paragraphs, at_most


class PersonChange(Input):
    """What a moderator says of a person at a site; what is left out stays."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"status": "suspended", "until": "2026-12-01T00:00:00Z"}]}
    )

    status: Status | None = Field(
        None,
        description="`suspended` and `banned` people write nothing; what `shadowed` ones write "
        "is seen by themselves and by moderators alone, and they are not told.",
    )
    until: Instant | None = Field(None, description="The end of a suspension; null for none.")
    badges: (
        Annotated[
            tuple[Annotated[Line, at_most(MAX_BADGE_CHARACTERS)], ...],
            Field(max_length=MAX_BADGES, description="Shown beside the name from then on."),
        ]
        | None
    ) = None
    note: Annotated[Paragraphs, at_most(MAX_NOTE_CHARACTERS)] | None = Field(
        None, description="For moderators alone; null for none."
    )

    reason: ActReason | None = None

    @model_validator(mode="after")
    def _check_until(self) -> Self:
        if self.until is not None and self.status != "suspended":
            raise ValueError("only a suspension has an end")
        return self

    @property
    def fields(self) -> dict[str, Any]:
        """What is stored of it: another status than a suspension has no end."""
        said: dict[str, Any] = {}
        if self.status is not None:
            said |= {"status": self.status, "until": self.until}
        if self.badges is not None:
            said["badges"] = list(dict.fromkeys(self.badges))
        if "note" in self.model_fields_set:
            said["note"] = self.note or ""
        return said
