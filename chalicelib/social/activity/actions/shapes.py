"""The shapes of actions: in storage, for readers, and for the rules of visibility."""

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
# An action mentions its actor, its refs, and the ids in its descriptor.
MAX_MENTIONS = 1 + MAX_REFS + MAX_NAMED_FIELDS


class StoredRef(TypedDict):
    """A subject of an action."""

    id: str
    type: str
    name: str


class ActionFields(TypedDict):
    """The content of an action: its scope, audience, subjects, details and mentioned ids."""

    scope: Scope
    audience: Annotated[list[str], AtMost(MAX_AUDIENCE)]
    refs: Annotated[list[StoredRef], AtMost(MAX_REFS)]
    descriptor: Document
    tags: Annotated[list[str], AtMost(MAX_TAGS)]
    mentions: Annotated[list[str], AtMost(MAX_MENTIONS)]


class ReportedThing(TypedDict):
    """A thing that Plaza itself reported; see `chalicelib.happenings`."""

    kind: str
    thing: str


class ActionState(TypedDict):
    """The fields of an action that change after its conducting, and its `cause`.

    - `hidden_by`: missing unless `hidden`
    - `hidden_version`: the number of times that it was hidden or shown
    - `reactions`: counts by kind; missing until the first reaction
    - `event_count`: the number of all its events ever, deleted events included
    - `cause`: the thing that Plaza itself reported; missing from callers' actions
    - `shown_scope`: the scope that the actor sees while the action is concealed, with the stored
      scope `restricted`; otherwise missing
    """

    hidden: bool
    hidden_by: NotRequired[Literal["actor", "moderator"]]
    hidden_version: int
    deleted: bool
    comment_count: int
    reaction_count: int
    reactions: NotRequired[dict[str, int]]
    event_count: int
    cause: NotRequired[ReportedThing]
    shown_scope: NotRequired[Scope]


class StoredActionEvent(TypedDict):
    """A comment, with its `text`, or a person's one reaction, with its `kind`.

    A withdrawn reaction has no kind.
    """

    _id: str
    action_id: str
    type: Literal["comment", "reaction"]
    by: By
    ts: datetime
    text: NotRequired[str]
    kind: NotRequired[str]


class StoredAction(ActionFields, ActionState):
    """An action, or an action's tombstone.

    `team` and `department` are the actor's units at the conducting.
    """

    _id: str
    actor: By
    conducted: datetime
    team: str | None
    department: str | None
    fan_out: FanOut


class AddressedAction(TypedDict):
    """The fields of an action that decide its readers."""

    _id: str
    actor: By
    scope: Scope
    team: str | None
    department: str | None
    audience: list[str]


class VisibleAction(TypedDict):
    """The fields of an action that decide the permission to see it."""

    actor: By
    scope: Scope
    team: str | None
    department: str | None
    audience: list[str]
    hidden: bool
    deleted: bool


class ShownAction(TypedDict):
    """The fields of an action for readers."""

    _id: str
    actor: By
    conducted: datetime
    scope: Scope
    shown_scope: NotRequired[Scope]
    refs: list[StoredRef]
    descriptor: Document
    hidden: bool
    comment_count: int
    reaction_count: int
    reactions: NotRequired[dict[str, int]]


class ReadAction(ShownAction):
    """An action as read for one reader.

    `audience` has this reader alone, or is missing.
    """

    team: str | None
    department: str | None
    audience: list[str]
    deleted: bool


_SHOWN = (
    "actor",
    "conducted",
    "scope",
    "shown_scope",
    "refs",
    "descriptor",
    "hidden",
    "comment_count",
    "reaction_count",
    "reactions",
)


def fields_for(reader_id: str) -> dict[str, Any]:
    """Return the projection of an action to the fields of `ReadAction`.

    Of the audience, the projection has at most the reader.
    """
    deciding = {"team": 1, "department": 1, "deleted": 1}
    own_part = {"audience": {"$elemMatch": {"$eq": reader_id}}}
    return {**dict.fromkeys(_SHOWN, 1), **deciding, **own_part}
