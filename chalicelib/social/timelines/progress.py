"""The progress of a post's fan-out, and the posts with a failed fan-out."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field
from pymongo.database import Database
from typing_extensions import TypedDict

from chalicelib.database import Document
from chalicelib.errors import Forbidden
from chalicelib.http import MAX_PAGE, PageQuery
from chalicelib.http.paging import Next
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social.delivery import engine
from chalicelib.social.delivery.progress import FanOutAnswer, failed_page, fan_out_answer
from chalicelib.social.errors import NotFailed, UnknownPost
from chalicelib.social.graph.forms import PersonAnswer
from chalicelib.social.posts import posts
from chalicelib.social.posts.forms import PostId
from chalicelib.social.timelines import post_fan_out


class FailedPostAnswer(FanOutAnswer):
    """A post's failed fan-out."""

    post_id: PostId
    author: PersonAnswer


class FailedPostsAnswer(TypedDict):
    """A page of the failed fan-outs of posts, oldest first."""

    fan_outs: Annotated[list[FailedPostAnswer], Field(max_length=MAX_PAGE)]
    next: Next


def failed_post_answer(row: Mapping[str, Any]) -> FailedPostAnswer:
    """Return the answer for a post with a failed fan-out; it has the reason, which is for staff."""
    return {
        "post_id": row["_id"],
        "author": row["by"],
        **fan_out_answer(row["fan_out"], staff=True),
    }


def of(database: Database[Document], post_id: str, caller: Principal) -> FanOutAnswer:
    """Return the progress of a post's fan-out, for its author and for staff.

    Raises UnknownPost if the caller may not see the post, and Forbidden for its other readers.
    """
    post = posts.POSTS.of(database).find_one({"_id": post_id, "deleted": False})
    if post is None:
        raise UnknownPost
    is_staff = caller.has("social_moderator")
    if caller.id != post["by"]["id"] and not is_staff:
        posts.find_visible(database, post_id, caller.id)
        raise Forbidden("A fan-out is shown to the post's author and to moderators")
    return fan_out_answer(post["fan_out"], staff=is_staff)


def list_failures(runtime: Runtime, query: PageQuery) -> FailedPostsAnswer:
    """Return a page of the posts' failed fan-outs: `{fan_outs, next}`."""
    rows, further = failed_page(runtime, posts.POSTS, ["by"], query)
    return {"fan_outs": [failed_post_answer(row) for row in rows], "next": further}


def retry(runtime: Runtime, post_id: str) -> None:
    """Continue a post's failed fan-out where it stopped.

    Raises UnknownPost, and NotFailed if the fan-out has not failed.
    """
    if engine.retry(runtime, post_fan_out.OF_POSTS, post_id):
        return
    raise NotFailed if posts.find_all(runtime.database, [post_id]) else UnknownPost
