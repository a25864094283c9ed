"""What the routes of the log take."""

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from chalicelib.comments.models import CommentId
from chalicelib.comments.node_ids import NodeId
from chalicelib.http import PageQuery
from chalicelib.ids import Id
from chalicelib.people.ids import UserId
from chalicelib.sites.ids import StoredSiteId

ActId = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9._~:-]{1,64}:[A-Za-z0-9_-]{16}$"),
    Field(
        description="The id of an act, which names its site.",
        examples=["harbour-post:aaneGAECAwQFBgcI"],
    ),
]


class LogQuery(PageQuery):
    """The query of a site's log: all of it, or of a comment, a person or a batch."""

    site: StoredSiteId
    node: NodeId | None = Field(None, description="With `comment`: the node that it is in.")
    comment: CommentId | None = None
    person: UserId | None = Field(
        None, description="What was done with this person, and with comments that they wrote."
    )

    batch: Annotated[str, Id] | None = Field(None, description="What one batch did.")

    @model_validator(mode="after")
    def _check_filter(self) -> Self:
        if (self.node is None) != (self.comment is None):
            raise ValueError("a comment is named by its node and its id together")
        if [self.node, self.person, self.batch].count(None) < 2:  # noqa: PLR2004 - one or none
            raise ValueError("the log is read for a comment, a person or a batch")
        return self
