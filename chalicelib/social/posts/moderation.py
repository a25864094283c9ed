"""Posts that social moderators read by their role alone: marked and audited."""

from chalicelib.http import Request
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social.errors import UnknownPost
from chalicelib.social.graph.audience import Reader
from chalicelib.social.posts import comments, posts
from chalicelib.social.posts.answers import PostAnswer, PostCommentsAnswer
from chalicelib.social.posts.forms import PostCommentsQuery
from chalicelib.social.posts.shapes import ReadPost
from chalicelib.social.posts.votes import poll_answer


def read_post(request: Request, post_id: str, caller: Principal | None) -> PostAnswer:
    """Return a post that the caller may see; moderators read any other post by their role.

    The answer then has `read_as`, and the audit has the call. Raises UnknownPost.
    """
    runtime, caller_id = request.runtime, caller.id if caller else None
    try:
        found = posts.find_with_reader(runtime.database, post_id, caller_id)
        return answer_for(runtime, *found)
    except UnknownPost:
        if caller is None or not caller.has("social_moderator"):
            raise
    return _read_as_moderator(request, post_id, caller)


def answer_for(runtime: Runtime, reader: Reader, post: ReadPost) -> PostAnswer:
    """Return the answer of a post for a reader who may see it."""
    (shown,) = comments.omit_blocked_comments(runtime.database, reader, [post])
    return poll_answer(runtime, shown or post, reader.id)


def list_comments(
    request: Request, post_id: str, caller: Principal | None, query: PostCommentsQuery
) -> PostCommentsAnswer:
    """Return a page of the comments on a post that the caller may see.

    Moderators read the comments on any post, marked and audited. Raises UnknownPost and Forbidden.
    """
    runtime = request.runtime
    try:
        return comments.list_all(runtime, post_id, caller.id if caller else None, query)
    except UnknownPost:
        if caller is None or not caller.has("social_moderator"):
            raise
    _find(request, post_id)
    answer = comments.page(runtime, post_id, query, caller.id, hides_blocked=False)
    answer["read_as"] = "moderator"
    return answer


def _read_as_moderator(request: Request, post_id: str, caller: Principal) -> PostAnswer:
    answer = poll_answer(request.runtime, _find(request, post_id), caller.id)
    answer["read_as"] = "moderator"
    return answer


def _find(request: Request, post_id: str) -> ReadPost:
    """Return a post by the caller's role alone, and mark the call for the audit."""
    found = posts.find_all(request.runtime.database, [post_id]).get(post_id)
    if found is None:
        raise UnknownPost
    request.is_audited = True
    request.details["read_as"] = "moderator"
    return found
