"""Public shapes of waiting comments and their claims."""

from datetime import datetime
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.comments.answers import AuthorAnswer
from chalicelib.comments.entries.rows import EXCERPT_CHARACTERS
from chalicelib.comments.forms import CommentId
from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.shapes import MAX_REASONS, GivenState, Queue, Reason
from chalicelib.http import MAX_PAGE
from chalicelib.http.paging import Next
from chalicelib.people.ids import UserId
from chalicelib.sites.ids import SiteId
from chalicelib.texts import ShownName


class ClaimAnswer(TypedDict):
    """A moderator's claim of a waiting comment, and the time of its end."""

    by: UserId
    name: ShownName
    until: datetime


class PendingAnswer(TypedDict):
    """A comment that waits for a moderator."""

    id: CommentId
    node_id: NodeId
    site: SiteId
    posted_at: datetime
    edited_at: Annotated[
        datetime | None,
        Field(description="Send it along with an approval, to approve what was read."),
    ]
    state: Annotated[
        GivenState, Field(description="With `edited_at`, what a decision says `as_shown`.")
    ]
    author: AuthorAnswer
    excerpt: Annotated[
        Annotated[str, Field(max_length=EXCERPT_CHARACTERS)],
        Field(description="The beginning of the text."),
    ]
    reasons: Annotated[
        list[Reason],
        Field(
            max_length=MAX_REASONS,
            description="Why it waits; none where a moderator holds it back.",
        ),
    ]
    queue: Queue
    waits_since: Annotated[datetime, Field(description="By this the queue is ordered.")]
    flags: Annotated[float, Field(ge=0, description="The weight of the flags that wait.")]
    claimed: Annotated[
        ClaimAnswer | None, Field(description="Which moderator reads it now; null for none.")
    ]


class QueueAnswer(TypedDict):
    """A page of the comments that wait, longest waiting first."""

    comments: Annotated[list[PendingAnswer], Field(max_length=MAX_PAGE)]
    next: Next
