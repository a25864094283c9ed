"""Answers about actions: their shapes stand in the API's document."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.http import MAX_PAGE
from chalicelib.http.paging import Next
from chalicelib.social.activity.actions.descriptors import PersonId, ShownDescriptor
from chalicelib.social.activity.actions.forms import MAX_COMMENT_CHARACTERS, ActionId
from chalicelib.social.activity.actions.shapes import (
    MAX_AUDIENCE,
    MAX_REFS,
    Scope,
    ShownAction,
    StoredAction,
    StoredActionEvent,
)
from chalicelib.social.activity.refs import RefId
from chalicelib.social.posts.shapes import PostComment
from chalicelib.social.reactions import ReactionKind
from chalicelib.texts import ShownLine, ShownName


class ActorAnswer(TypedDict):
    """A user with the present name: an actor, a comment's author, or a reaction's user."""

    id: PersonId
    name: Annotated[ShownName, Field(examples=["Henrike Voss"])]


class RefAnswer(TypedDict):
    """A subject of an action."""

    id: RefId
    type: Annotated[
        Annotated[str, Field(max_length=64)],
        Field(description="`user`, or a type of the application's own."),
    ]
    name: Annotated[
        ShownLine, Field(description="A new name reaches every action in the background.")
    ]


class ReactionsAnswer(TypedDict, total=False):
    """The number of reactions by kind, without kinds that have none."""

    like: Annotated[int, Field(ge=1)]
    celebrate: Annotated[int, Field(ge=1)]
    support: Annotated[int, Field(ge=1)]
    question: Annotated[int, Field(ge=1)]


class ActionAnswer(TypedDict):
    """An action: something that a user did."""

    id: ActionId
    actor: ActorAnswer
    conducted_at: datetime
    scope: Scope
    refs: Annotated[list[RefAnswer], Field(max_length=MAX_REFS)]
    descriptor: ShownDescriptor
    is_hidden: Annotated[bool, Field(description="Only its actor sees it.")]
    comment_count: Annotated[
        int, Field(ge=0, description="All comments, also those that blocks hide from the caller.")
    ]
    reaction_count: Annotated[int, Field(ge=0)]
    reactions: ReactionsAnswer


class NewActionAnswer(ActionAnswer):
    """A new action as its actor sees it."""

    audience_count: NotRequired[
        Annotated[
            int,
            Field(
                ge=1,
                le=MAX_AUDIENCE,
                description="The number of its readers; in the scope `restricted` alone.",
            ),
        ]
    ]


class ReadActionAnswer(ActionAnswer):
    """An action, read by its id."""

    read_as: NotRequired[
        Annotated[
            Literal["moderator"],
            Field(description="Present if the caller reads it by the role alone; audited."),
        ]
    ]
    own_reaction: Annotated[
        ReactionKind | None, Field(description="The caller's own; null without one.")
    ]


class ActionsAnswer(TypedDict):
    """A page of actions, newest first."""

    actions: Annotated[list[ActionAnswer], Field(max_length=MAX_PAGE)]
    next: Next


class ActionCommentAnswer(TypedDict):
    """A comment on an action."""

    id: Annotated[str, Field(max_length=64)]
    author: ActorAnswer
    posted_at: datetime
    text: Annotated[
        Annotated[str, Field(max_length=MAX_COMMENT_CHARACTERS)],
        Field(description="Plain text, of several lines."),
    ]


class ActionCommentsAnswer(TypedDict):
    """A page of the comments on an action, oldest first."""

    comments: Annotated[
        list[ActionCommentAnswer],
        Field(
            max_length=MAX_PAGE, description="Without comments that blocks hide from the caller."
        ),
    ]
    next: Next
    read_as: NotRequired[
        Annotated[
            Literal["moderator"],
            Field(description="Present if the caller reads them by the role alone; audited."),
        ]
    ]


class ActionReactionAnswer(TypedDict):
    """A user's one reaction to an action."""

    user: ActorAnswer
    kind: ReactionKind
    reacted_at: Annotated[datetime, Field(description="The time of the user's first reaction.")]


class ActionReactionsAnswer(TypedDict):
    """A page of the reactions to an action, oldest first."""

    reactions: Annotated[
        list[ActionReactionAnswer],
        Field(
            max_length=MAX_PAGE, description="Without reactions that blocks hide from the caller."
        ),
    ]
    next: Next


def action_answer(action: ShownAction) -> ActionAnswer:
    """Return an action as the API shows it."""
    counts = {kind: count for kind, count in action.get("reactions", {}).items() if count > 0}
    return {
        "id": action["_id"],
        "actor": action["actor"],
        "conducted_at": action["conducted"],
        "scope": action.get("shown_scope", action["scope"]),
        "refs": action["refs"],
        "descriptor": action["descriptor"],
        "is_hidden": action["hidden"],
        "comment_count": action["comment_count"],
        "reaction_count": action["reaction_count"],
        "reactions": cast("ReactionsAnswer", counts),
    }


def new_action_answer(action: StoredAction) -> NewActionAnswer:
    """Return a new action as its actor sees it: with the size of its audience, without names.

    Names could show that an omitted user blocks the actor.
    """
    shown = cast("NewActionAnswer", action_answer(action))
    if action["scope"] == "restricted":
        shown["audience_count"] = len(action["audience"])
    return shown


def reaction_answer(event: StoredActionEvent) -> ActionReactionAnswer:
    """Return a reaction to an action as the API shows it."""
    kind = cast("ReactionKind", event["kind"])
    return {"user": event["by"], "kind": kind, "reacted_at": event["ts"]}


def comment_answer(comment: PostComment) -> ActionCommentAnswer:
    """Return a comment on an action as the API shows it."""
    return {
        "id": comment["id"],
        "author": comment["by"],
        "posted_at": comment["ts"],
        "text": comment["text"],
    }
