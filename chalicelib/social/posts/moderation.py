"""What social moderators read beyond what they see as readers: marked, and audited."""

from chalicelib.http import Request
from chalicelib.identity import Principal
from chalicelib.social.errors import UnknownPost
from chalicelib.social.posts import hidden_comments, posts
from chalicelib.social.posts.answers import PostAnswer
from chalicelib.social.posts.polls import answer


def read_post(request: Request, post_id: str, caller: Principal | None) -> PostAnswer:
    """Return a post to readers who may see it, and, marked and audited, to moderators.

    Raises UnknownPost.
    """
    runtime, caller_id = request.runtime, caller.id if caller else None
    try:
        reader, post = posts.find_with_reader(runtime.database, post_id, caller_id)
        (shown,) = hidden_comments.without(runtime.database, reader, [post])
        return answer(runtime, shown or post, caller_id)
    except UnknownPost:
        if caller is None or not caller.has("social_moderator"):
            raise
    return _read_as_moderator(request, post_id, caller)


def _read_as_moderator(request: Request, post_id: str, caller: Principal) -> PostAnswer:
    found = posts.find_all(request.runtime.database, [post_id]).get(post_id)
    if found is None:
        raise UnknownPost
    told = answer(request.runtime, found, caller.id)
    told["read_as"] = "moderator"
    request.is_audited = True
    request.details["read_as"] = "moderator"
    return told
