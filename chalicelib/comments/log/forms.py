"""Public shapes of the log: its query, and acts as moderators see them."""

from datetime import datetime
from typing import Annotated, Any, NotRequired, Self

from pydantic import Field, StringConstraints, model_validator
from typing_extensions import TypedDict

from chalicelib.comments.forms import MAX_ACT_REASON_CHARACTERS, CommentId
from chalicelib.comments.log.rows import Act, Action
from chalicelib.comments.node_ids import NodeId
from chalicelib.comments.shapes import MAX_BADGES, MAX_NOTE_CHARACTERS, ShownBadge
from chalicelib.http import MAX_PAGE, PageQuery
from chalicelib.http.paging import Next
from chalicelib.ids import Id
from chalicelib.people.ids import UserId
from chalicelib.sites.ids import SiteId
from chalicelib.texts import ShownName

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

    site: SiteId
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


# The fields that an act can change, in the order of `ChangedAnswer`.
_SHOWN = ("state", "status", "until", "badges", "note")


class NamedAnswer(TypedDict):
    """A person, by the name that they had then, or by their newer name."""

    id: UserId
    name: ShownName


class ChangedAnswer(TypedDict):
    """The fields that an act has changed: `state` of a comment, all others of a person."""

    state: NotRequired[ShownName]
    status: NotRequired[ShownName]
    until: NotRequired[datetime | None]
    badges: NotRequired[Annotated[list[ShownBadge], Field(max_length=MAX_BADGES)]]
    note: NotRequired[Annotated[str, Field(max_length=MAX_NOTE_CHARACTERS)]]


class ActAnswer(TypedDict):
    """An act of a moderator."""

    id: ActId
    site: SiteId
    at: datetime
    by: Annotated[NamedAnswer | None, Field(description="Null once they are erased.")]
    action: Annotated[
        Action,
        Field(description="`state`, `edit` and `delete` of a comment; `person` of a person."),
    ]
    node_id: NodeId | None
    comment_id: CommentId | None
    person: Annotated[
        NamedAnswer | None,
        Field(description="Whom it is about, or who wrote the comment; null once erased."),
    ]
    before: ChangedAnswer
    after: ChangedAnswer
    reason: Annotated[str, Field(max_length=MAX_ACT_REASON_CHARACTERS)]
    undoes: Annotated[ActId | None, Field(description="The act that this one has undone.")]
    batch: Annotated[Annotated[str, Id] | None, Field(description="The batch it was part of.")]
    can_undo: Annotated[
        bool,
        Field(description="Whether it can be undone while nobody has changed the same since."),
    ]


class LogAnswer(TypedDict):
    """A page of a site's log, the latest act first."""

    acts: Annotated[list[ActAnswer], Field(max_length=MAX_PAGE)]
    next: Next


def act_answer(act: Act) -> ActAnswer:
    """Return an act as moderators see it."""
    return {
        "id": act["_id"],
        "site": act["site"],
        "at": act["at"],
        "by": named_answer(act["by"], act["by_name"]),
        "action": act["action"],
        "node_id": act["node_id"],
        "comment_id": act["comment_id"],
        "person": named_answer(act["person"], act["person_name"]),
        "before": _change_answer(act["before"]),
        "after": _change_answer(act["after"]),
        "reason": act["reason"],
        "undoes": act.get("undoes"),
        "batch": act.get("batch"),
        "can_undo": can_undo(act),
    }


def can_undo(act: Act) -> bool:
    """Return whether an act can be undone, as long as no later act changes the same.

    Acts on texts, on erased people, or without effect cannot.
    """
    is_kept = act["action"] == "person" and act["person"] is not None
    return (act["action"] == "state" or is_kept) and act["before"] != act["after"]


def named_answer(user_id: str | None, name: str | None) -> NamedAnswer | None:
    """Return a person with their name; None: erased."""
    return None if user_id is None else {"id": user_id, "name": name or user_id}


def _change_answer(fields: dict[str, object]) -> ChangedAnswer:
    shown: Any = {name: fields[name] for name in _SHOWN if name in fields}
    changed: ChangedAnswer = shown
    return changed
