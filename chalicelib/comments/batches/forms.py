"""Requests and answers of batches with their bounds."""

from datetime import datetime
from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator
from typing_extensions import TypedDict

from chalicelib.comments.forms import (
    MAX_ACT_REASON_CHARACTERS,
    ActReason,
    AsShown,
    CommentId,
)
from chalicelib.comments.log.forms import NamedAnswer, named_answer
from chalicelib.comments.log.rows import MOST_NAMED, Batch, Status
from chalicelib.comments.node_ids import NodeId, site_of
from chalicelib.comments.shapes import GivenState
from chalicelib.http import Input
from chalicelib.ids import Id
from chalicelib.instants import Instant
from chalicelib.people.ids import UserId
from chalicelib.sites.ids import SiteId

BatchId = Annotated[str, Id, Field(description="The id of a batch.", examples=["aaneGAECAwQFBgcI"])]


class BatchComment(Input):
    """A comment of a batch.

    With `as_shown`, the batch decides the comment only in the shown state and with the shown text.
    With `edited_at` alone, only with the text of that edit; null: only if it was never edited.
    """

    node_id: NodeId
    comment_id: CommentId
    as_shown: Annotated[
        AsShown | None, Field(description="`state` and `edited_at` as they were shown.")
    ] = None
    edited_at: Instant | None = None


class BatchStart(Input):
    """A new state for comments of a site: for named comments, or for all by one person."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "site": "harbour-post",
                    "state": "hidden",
                    "person": "ben",
                    "since": "2026-11-22T08:15:00Z",
                    "reason": "The same advertisement forty times",
                }
            ]
        }
    )

    site: SiteId
    state: GivenState
    comments: (
        Annotated[tuple[BatchComment, ...], Field(min_length=1, max_length=MOST_NAMED)] | None
    ) = Field(None, description="These comments, each once, all of this site.")
    person: UserId | None = Field(None, description="All that this person has written at the site.")
    since: Instant | None = Field(None, description="With `person`: what they wrote from then on.")
    reason: ActReason | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.comments is None) == (self.person is None):
            raise ValueError("a batch is of named comments or of one person's")
        if self.since is not None and self.person is None:
            raise ValueError("only a person's comments are taken from a time on")
        named = [(each.node_id, each.comment_id) for each in self.comments or ()]
        if len(set(named)) < len(named):
            raise ValueError("a comment is named twice")
        if any(site_of(node) != self.site for node, _ in named):
            raise ValueError("all comments of a batch are of its site")
        return self


_Count = Annotated[int, Field(ge=0)]


class BatchAnswer(TypedDict):
    """A batch and its progress: `changed`, `unchanged` and `left` count its handled comments."""

    id: BatchId
    site: SiteId
    at: datetime
    by: Annotated[NamedAnswer | None, Field(description="Null once they are erased.")]
    state: Annotated[GivenState | None, Field(description="Null for one that undoes another.")]
    person: Annotated[UserId | None, Field(description="Whose comments; null for named ones.")]
    since: datetime | None
    undoes: Annotated[BatchId | None, Field(description="The batch that this one undoes.")]
    reason: Annotated[str, Field(max_length=MAX_ACT_REASON_CHARACTERS)]
    status: Annotated[Status, Field(description="`stopped` if its moderator was erased.")]
    total: _Count
    changed: _Count
    unchanged: Annotated[int, Field(ge=0, description="Comments that were in the state already.")]
    left: Annotated[
        int,
        Field(ge=0, description="Comments that were gone, edited, or decided otherwise since."),
    ]


def batch_answer(batch: Batch) -> BatchAnswer:
    """Return a batch as moderators see it."""
    return {
        "id": batch["_id"],
        "site": batch["site"],
        "at": batch["at"],
        "by": named_answer(batch["by"], batch["by_name"]),
        "state": batch["wanted"],
        "person": batch["person"],
        "since": batch["since"],
        "undoes": batch["undoes"],
        "reason": batch["reason"],
        "status": batch["status"],
        "total": batch["total"],
        "changed": batch["changed"],
        "unchanged": batch["unchanged"],
        "left": batch["left"],
    }
