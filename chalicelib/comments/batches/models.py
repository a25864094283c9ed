"""What the routes of batches take."""

from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator

from chalicelib.comments.log.batches import MOST_NAMED
from chalicelib.comments.models import ActReason, CommentId
from chalicelib.comments.node_ids import NodeId, site_of
from chalicelib.comments.shapes import GivenState
from chalicelib.http import Input
from chalicelib.ids import Id
from chalicelib.instants import Instant
from chalicelib.people.ids import UserId
from chalicelib.sites.ids import StoredSiteId

BatchId = Annotated[str, Id, Field(description="The id of a batch.", examples=["aaneGAECAwQFBgcI"])]


class BatchComment(Input):
    """A comment of a batch; with `edited_at`, only the text that the moderator has read."""

    node_id: NodeId
    comment_id: CommentId
    edited_at: Instant | None = None


class BatchStart(Input):
    """The state that comments of a site get: those that are named, or those of one person."""

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

    site: StoredSiteId
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
