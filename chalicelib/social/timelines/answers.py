"""The forms in which the API answers about fan-outs of posts that failed."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.http import MAX_PAGE
from chalicelib.http.paging import Next
from chalicelib.social.delivery.progress import FanOutAnswer, fan_out_answer
from chalicelib.social.graph.answers import PersonAnswer
from chalicelib.social.posts.models import PostId


class FailedPostAnswer(FanOutAnswer):
    """A fan-out of a post that failed."""

    post_id: PostId
    author: PersonAnswer


class FailedPostsAnswer(TypedDict):
    """A page of the failed fan-outs of posts, oldest first."""

    fan_outs: Annotated[list[FailedPostAnswer], Field(max_length=MAX_PAGE)]
    next: Next


def failed_post_answer(row: Mapping[str, Any]) -> FailedPostAnswer:
    """Return a post whose fan-out failed as staff are shown it."""
    return {
        "post_id": row["_id"],
        "author": row["by"],
        **fan_out_answer(row["fan_out"], staff=True),
    }
