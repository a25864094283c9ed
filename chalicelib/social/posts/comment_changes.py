"""Edits of comments on posts by the authors of the comments, and removals.

A comment is on its post, or among the older comments. Each change is one transaction that writes
the post. So it conflicts with a move of the comment between the two places, and it notes in the
post that the copies are behind.
"""

from datetime import timedelta
from typing import Literal

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.errors import EditWindowOver, Forbidden, UnknownComment
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.social import telling
from chalicelib.social.errors import UnknownPost
from chalicelib.social.graph import following
from chalicelib.social.messages import NotifyFeed, Propagate
from chalicelib.social.posts import posts
from chalicelib.social.posts.comments import BY_TIME, OLDER_COMMENTS, act_of, find_named
from chalicelib.social.posts.forms import COMMENTS_SHOWN
from chalicelib.social.posts.shapes import OlderComment, PostComment
from chalicelib.social.posts.visibility import may_see_comment

# The same as for comments on pages.
EDIT_WINDOW = timedelta(minutes=15)
Remover = Literal["author", "post_author", "moderator"]


def edit(
    runtime: Runtime, post_id: str, comment_id: str, caller: Principal, text: str
) -> PostComment:
    """Change the text of a comment of the caller's, and propagate it to the post's copies.

    Authors have 15 minutes; social moderators edit their own comments at any time. Raises
    UnknownPost if the caller may not see the post, UnknownComment, Forbidden and EditWindowOver.
    """
    database = runtime.database
    posts.find_visible(database, post_id, caller.id)
    now = runtime.now()

    def work(session: ClientSession) -> PostComment:
        comment = _find(database, post_id, comment_id, session)
        _check_author(database, caller, comment)
        if now - comment["ts"] > EDIT_WINDOW and not caller.has("social_moderator"):
            raise EditWindowOver
        change = {"text": text, "edited": now}
        on_post = {f"comments.$[each].{name}": value for name, value in change.items()}
        rows, there = posts.POSTS.of(database), {"_id": post_id, "deleted": False}
        update = posts.mark_behind(runtime, {"$set": on_post})
        mine = [{"each.id": comment_id}]
        if not rows.update_one(there, update, array_filters=mine, session=session).matched_count:
            raise UnknownPost
        older = {"_id": comment_id, "post_id": post_id}
        OLDER_COMMENTS.of(database).update_one(older, {"$set": change}, session=session)
        return {**comment, "text": text, "edited": now}

    changed = in_transaction(database, work)
    runtime.queues.send(Propagate(post_id=post_id))
    return changed


def remove(runtime: Runtime, post_id: str, comment_id: str, caller: Principal) -> Remover:
    """Delete a comment as its author, the post's author or a moderator; return the caller's part.

    The comment's author may delete it even without permission to see the post. The post's author
    may delete it even if a block hides it. Raises UnknownPost, UnknownComment and Forbidden.
    """
    database = runtime.database
    post = posts.find_all(database, [post_id]).get(post_id)
    if post is None:
        raise UnknownPost
    comment = _look_for(database, post_id, comment_id)
    remover: Remover
    if comment and comment["by"]["id"] == caller.id:
        remover = "author"
    elif post["by"]["id"] == caller.id:
        remover = "post_author"
    elif caller.has("social_moderator"):
        remover = "moderator"
    else:
        posts.find_visible(database, post_id, caller.id)
        if comment is None:
            raise UnknownComment
        _check_author(database, caller, comment)
    if not take_out(runtime, post_id, comment_id):
        raise UnknownComment
    runtime.queues.send(Propagate(post_id=post_id))
    return remover


def take_out(runtime: Runtime, post_id: str, comment_id: str) -> bool:
    """Delete a comment and lower the count, in one transaction; return whether it existed.

    Older comments move back to the post, so that it still has its last comments. The caller
    propagates the post.
    """
    database, rows = runtime.database, posts.POSTS.of(runtime.database)
    older = OLDER_COMMENTS.of(database)
    gone = posts.mark_behind(
        runtime, {"$pull": {"comments": {"id": comment_id}}, "$inc": {"comment_count": -1}}
    )

    def work(session: ClientSession) -> NotifyFeed | None:
        comment = _look_for(database, post_id, comment_id, session)
        if comment is None:
            return None
        act = act_of(post_id, comment)
        telling.note(runtime, act, session)
        older.delete_one({"_id": comment_id, "post_id": post_id}, session=session)
        rows.update_one({"_id": post_id}, gone, session=session)
        _hold_last(database, post_id, session)
        return act

    removed = in_transaction(database, work)
    if removed is None:
        return False
    telling.send(runtime, removed)
    return True


def _hold_last(database: Database[Document], post_id: str, session: ClientSession) -> None:
    """Move older comments back to a post until it has the last `COMMENTS_SHOWN` comments.

    A tombstone gets none: a worker deletes its older comments.
    """
    rows, older = posts.POSTS.of(database), OLDER_COMMENTS.of(database)
    post = rows.find_one({"_id": post_id, "deleted": False}, posts.BODY, session=session)
    lacking = COMMENTS_SHOWN - len(post["comments"]) if post else 0
    if post is None or not lacking or post["comment_count"] <= len(post["comments"]):
        return
    newest_first = [(field, -1) for field in BY_TIME]
    last = older.find({"post_id": post_id}, session=session).sort(newest_first).limit(lacking)
    back = [_without_place(comment) for comment in last]
    push = {"$push": {"comments": {"$each": back, "$sort": BY_TIME}}}
    rows.update_one({"_id": post_id}, push, session=session)
    ids = [comment["id"] for comment in back]
    older.delete_many({"_id": {"$in": ids}, "post_id": post_id}, session=session)


def _without_place(comment: OlderComment) -> PostComment:
    """Return an older comment in the form of a comment on its post."""
    kept: PostComment = {
        "id": comment["id"],
        "by": comment["by"],
        "ts": comment["ts"],
        "text": comment["text"],
    }
    if "edited" in comment:
        kept["edited"] = comment["edited"]
    return kept


def _find(
    database: Database[Document], post_id: str, comment_id: str, session: ClientSession
) -> PostComment:
    comment = _look_for(database, post_id, comment_id, session)
    if comment is None:
        raise UnknownComment
    return comment


def _look_for(
    database: Database[Document],
    post_id: str,
    comment_id: str,
    session: ClientSession | None = None,
) -> PostComment | None:
    """Return a comment of a post from either place. None: an unknown comment."""
    key = (post_id, comment_id)
    return find_named(database, [key], session).get(key)


def _check_author(database: Database[Document], caller: Principal, comment: PostComment) -> None:
    """Raise Forbidden for another author's comment, and UnknownComment if a block hides it."""
    author = comment["by"]["id"]
    if author == caller.id:
        return
    if not may_see_comment(following.reader(database, caller.id, [author]), comment):
        raise UnknownComment
    raise Forbidden("Only its author can change a comment")
