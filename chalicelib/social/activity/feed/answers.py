"""Answers about feeds and fan-outs: their shapes stand in the API's document."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.http import MAX_PAGE
from chalicelib.http.paging import Next
from chalicelib.social.activity.actions.answers import ActionAnswer, ActorAnswer, action_answer
from chalicelib.social.activity.actions.forms import ActionId
from chalicelib.social.activity.actions.shapes import ShownAction
from chalicelib.social.delivery.progress import FanOutAnswer, fan_out_answer

# `newer` and `unread` count at most this many.
MAX_NEWER = 1_000
MAX_UNREAD = 100


class FeedActionAnswer(ActionAnswer):
    """An action in a feed."""

    relevant_at: Annotated[
        datetime,
        Field(
            description="Its rank for the reader, as a time: the latest of its events' times. "
            "The weaker an event's person is tied to the reader, the earlier its time counts."
        ),
    ]


class FeedAnswer(TypedDict):
    """A page of a feed, the latest `relevant_at` first."""

    actions: Annotated[list[FeedActionAnswer], Field(max_length=MAX_PAGE)]
    next: Next
    newer: Annotated[
        int,
        Field(
            ge=0,
            le=MAX_NEWER,
            description="The number of actions that came or rose since the first page, up to "
            f"{MAX_NEWER:,}. Later pages omit them: read the first page again. Actions of the "
            "last seconds before the first page count too, and may have been on it.",
        ),
    ]


class UnreadAnswer(TypedDict):
    """The number of actions that came or rose since the reader last marked the feed as seen."""

    unread: Annotated[int, Field(ge=0, le=MAX_UNREAD, description=f"Up to {MAX_UNREAD}.")]


class FailedActionAnswer(FanOutAnswer):
    """An action's failed fan-out."""

    action_id: ActionId
    actor: ActorAnswer


class FailedActionsAnswer(TypedDict):
    """A page of the failed fan-outs of actions, oldest first."""

    fan_outs: Annotated[list[FailedActionAnswer], Field(max_length=MAX_PAGE)]
    next: Next


def feed_action_answer(action: ShownAction, relevancy: datetime) -> FeedActionAnswer:
    """Return an action as a feed shows it, with its relevancy for the reader."""
    return {**action_answer(action), "relevant_at": relevancy}


def failed_action_answer(row: Mapping[str, Any]) -> FailedActionAnswer:
    """Return an action's failed fan-out, as staff see it."""
    return {
        "action_id": row["_id"],
        "actor": row["actor"],
        **fan_out_answer(row["fan_out"], staff=True),
    }
