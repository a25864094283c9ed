"""The shapes of actions: as stored, as read, and the parts that rules need."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

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


class Happened(TypedDict):
    """What has happened to an action.

    `hidden_version` counts how often it was hidden or shown, `event_count` its events, erased
    or not. An action that was hidden before `hidden_by` was stored may be shown by its actor.
    """

    hidden: bool
    hidden_by: NotRequired[Literal["actor", "moderator"]]
    hidden_version: int
    deleted: bool
    comment_count: int
    reaction_count: int
    event_count: int


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


class ReadAction(ShownAction):
    """An action as it is read for one reader.

    `audience` has this reader, or is missing if the reader is not in it.
    """

    team: str | None
    department: str | None
    audience: list[str]
    deleted: bool
