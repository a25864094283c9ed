"""What social moderators read beyond what they see as readers: marked, and audited."""

from typing import Any

from chalice.app import Response

from chalicelib.http import Request, reply
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social.errors import UnknownPost
from chalicelib.social.posts import hidden_comments, posts
from chalicelib.social.posts.models import post_answer

# What an answer has beside the fields that its readers get.
MARK = {"read_as": "moderator"}


def reply_audited(request: Request, answer: dict[str, Any]) -> Response:
    """Answer, and have a moderator's read leave an audit line."""
    if MARK.items() <= answer.items():
        request.is_audited = True
        request.details |= MARK
    return reply(answer)


def read_post(runtime: Runtime, post_id: str, caller: Principal | None) -> dict[str, Any]:
    """Return a post to readers who may see it, and, marked, to moderators.

    Raises UnknownPost.
    """
    caller_id = caller.id if caller else None
    try:
        reader, post = posts.find_with_reader(runtime.database, post_id, caller_id)
        (shown,) = hidden_comments.without(runtime.database, reader, [post])
        return post_answer(shown or post, caller_id)
    except UnknownPost:
        if caller is None or not caller.has("social_moderator"):
            raise
    found = posts.find_all(runtime.database, [post_id]).get(post_id)
    if found is None:
        raise UnknownPost
    return {**post_answer(found, caller_id), **MARK}
