"""What the comments API takes."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, StringConstraints

from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.shapes import CommentFields, Moderation, StoreName
from chalicelib.comments.store import Order
from chalicelib.http import Input, PageQuery
from chalicelib.instants import Instant
from chalicelib.texts import Line, Paragraphs, Url, at_most

MAX_TEXT_CHARACTERS = 10_000
# A path has one segment more than its depth, and has to fit into a cursor.
DEEPEST = 16
MAX_COUNTS = 100

# As stored by earlier releases; the id of a new node names its site.
SiteId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._~:-]{1,64}$")]
# Wider than the ids that Plaza makes: one that it never made is unknown, not malformed.
CommentId = Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z_-]{1,32}$")]


def _split(nodes: object) -> object:
    return tuple(nodes.split(",")) if isinstance(nodes, str) else nodes


Text = Annotated[Paragraphs, at_most(MAX_TEXT_CHARACTERS)]


class NodeSettings(Input):
    """A node as its publisher wants it; what is left out stays, or is the default.

    `site` may be repeated here, and has to be the one that the node belongs to.
    """

    title: Line
    url: Url
    site: SiteId | None = None
    store: StoreName | None = None
    threaded: bool | None = None
    max_depth: Annotated[int, Field(ge=1, le=DEEPEST)] | None = None
    locked: bool | None = None
    moderation: Moderation | None = None


class NewComment(Input):
    """A comment as its author sends it."""

    text: Text
    parent: CommentId | None = None


class CommentEdit(Input):
    """A comment's new text."""

    text: Text


class StateChange(Input):
    """The state that a moderator gives a comment.

    With `edited`, as they were shown it, only the text that they have read is changed.
    """

    state: Literal["visible", "pending", "hidden"]
    edited: Instant | None = None

    @property
    def seen(self) -> CommentFields:
        """What the comment still has to be like."""
        return {"edited": self.edited} if "edited" in self.model_fields_set else {}


class StoreChange(Input):
    """The store that a node shall move to."""

    store: StoreName


class IdChange(Input):
    """The id that a node shall move to."""

    to: NodeId


class PendingQuery(PageQuery):
    """The query of the moderation queue."""

    state: Literal["pending"] = "pending"


class CountsQuery(Input):
    """The nodes whose comments are to be counted, separated by commas."""

    nodes: Annotated[
        tuple[NodeId, ...],
        # Before the splitting, so that the bounds are those of the list.
        Field(min_length=1, max_length=MAX_COUNTS, description="Ids, separated by commas."),
        BeforeValidator(_split),
    ]


class CommentsQuery(PageQuery):
    """The query of a node's comments."""

    order: Order = "oldest"
