"""The shapes of actions: as stored, as read, and the parts that rules need."""

from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from chalicelib.database import Document
from chalicelib.database.validators import AtMost
from chalicelib.social.activity.actions.types import MAX_NAMED_FIELDS, MAX_TAGS
from chalicelib.social.delivery.state import FanOut
from chalicelib.social.graph.users import By

Scope = Literal["team", "department", "restricted"]

MAX_AUDIENCE = 1_000
MAX_REFS = 20
# Its actor, its refs, and what its descriptor names.
MAX_MENTIONS = 1 + MAX_REFS + MAX_NAMED_FIELDS


class StoredRef(TypedDict):
    """Something that an action is about."""

    id: str
    type: str
    name: str


class Told(TypedDict):
    """The fields of an action that its actor gives."""

    scope: Scope
    audience: Annotated[list[str], AtMost(MAX_AUDIENCE)]
    refs: Annotated[list[StoredRef], AtMost(MAX_REFS)]
    descriptor: Document
    tags: Annotated[list[str], AtMost(MAX_TAGS)]
    mentions: Annotated[list[str], AtMost(MAX_MENTIONS)]


class ToldOf(TypedDict):
    """A thing that Plaza itself told of; see `chalicelib.happenings`."""

    kind: str
    thing: str


class Happened(TypedDict):
    """What has happened to an action.

    `hidden_version` counts how often it was hidden or shown, `event_count` its events, erased
    or not, and `reactions` its reactions by kind; it is missing until the first, and where
    earlier releases counted reactions. An action that was hidden before `hidden_by` was stored
    may be shown by its actor. `cause` is what Plaza itself told of.
    """

    hidden: bool
    hidden_by: NotRequired[Literal["actor", "moderator"]]
    hidden_version: int
    deleted: bool
    comment_count: int
    reaction_count: int
    reactions: NotRequired[dict[str, int]]
    event_count: int
    cause: NotRequired[ToldOf]


class StoredActionEvent(TypedDict):
    """A comment, with its `text`, or a person's one reaction, with its `kind`.

    A reaction that was withdrawn has no kind.
    """

    _id: str
    action_id: str
    type: Literal["comment", "reaction"]
    by: By
    ts: datetime
    text: NotRequired[str]
    kind: NotRequired[str]


class StoredAction(Told, Happened):
    """An action, or the tombstone of one.

    `team` and `department` are the actor's at the time.
    """

    _id: str
    actor: By
    conducted: datetime
    team: str | None
    department: str | None
    fan_out: FanOut


class AddressedAction(TypedDict):
    """What decides which readers an action is for."""

    _id: str
    actor: By
    scope: Scope
    team: str | None
    department: str | None
    audience: list[str]


class VisibleAction(TypedDict):
    """What decides who may see an action."""

    actor: By
    scope: Scope
    team: str | None
    department: str | None
    audience: list[str]
    hidden: bool
    deleted: bool


class ShownAction(TypedDict):
    """What readers are shown of an action."""

    _id: str
    actor: By
    conducted: datetime
    scope: Scope
    refs: list[StoredRef]
    descriptor: Document
    hidden: bool
    comment_count: int
    reaction_count: int
    reactions: NotRequired[dict[str, int]]


class ReadAction(ShownAction):
    """An action as it is read for one reader.

    `audience` has this reader, or is missing if the reader is not in it.
    """

    team: str | None
    department: str | None
    audience: list[str]
    deleted: bool


_SHOWN = (
    "actor",
    "conducted",
    "scope",
    "refs",
    "descriptor",
    "hidden",
    "comment_count",
    "reaction_count",
    "reactions",
)


def fields_for(reader_id: str) -> dict[str, Any]:
    """Return the projection of an action: what is shown, and what decides who may see it.

    Of the audience it has only the reader.
    """
    deciding = {"team": 1, "department": 1, "deleted": 1}
    own_part = {"audience": {"$elemMatch": {"$eq": reader_id}}}
    return {**dict.fromkeys(_SHOWN, 1), **deciding, **own_part}
