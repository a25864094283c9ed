"""Reactions to posts: marks with counts on the post itself; copies show the same counts."""

from collections.abc import Sequence
from typing import Any

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.marks import placing, reading, removal
from chalicelib.marks.placing import Marked, React
from chalicelib.marks.shapes import Counted, Kind, Thing
from chalicelib.runtime import Runtime
from chalicelib.social.errors import UnknownPost
from chalicelib.social.graph import users
from chalicelib.social.messages import NotifyFeed
from chalicelib.social.posts import posts
from chalicelib.social.posts.shapes import PostReactions, ShownPost
from chalicelib.social.reactions import ReactionKind
from chalicelib.social.telling import telling

_NOT_DELETED = {"deleted": False}


def _key(post_id: str) -> Document:
    return {"_id": post_id}


def _takes(_user_id: str) -> Document:
    return _NOT_DELETED


KIND = Kind(
    name="post",
    counters=posts.POSTS,
    key=_key,
    takes=_takes,
    keeps=_NOT_DELETED,
    missing=UnknownPost,
    shown=("reactions", "marking"),
)


def react(runtime: Runtime, post_id: str, caller: Principal, kind: ReactionKind) -> PostReactions:
    """Store a reaction of the caller's to a post, beside the caller's other kinds.

    Returns the post's counts and the caller's kinds. Raises UnknownPost if the caller may not see
    the post.
    """
    post = posts.find_visible(runtime.database, post_id, caller.id)
    users.ensure(runtime, caller)
    marked = _place(runtime, post, caller, React(kind))
    return _to_reactions(marked.counter, marked.mine.reactions)


def withdraw(runtime: Runtime, post_id: str, caller: Principal, kind: ReactionKind) -> None:
    """Withdraw a reaction of the caller's to a post; without one, nothing changes.

    Raises UnknownPost if the caller may not see the post.
    """
    post = posts.find_visible(runtime.database, post_id, caller.id)
    _place(runtime, post, caller, React(kind, adds=False))


def _place(runtime: Runtime, post: ShownPost, caller: Principal, change: React) -> Marked:
    """Change the caller's reactions to a post; notify the post's author of others' changes."""
    thing = Thing(KIND, post["id"], post)
    if post["by"]["id"] == caller.id:
        return placing.place(runtime, thing, caller.id, change)
    with telling(runtime, NotifyFeed(by=caller.id, kind="post.reaction", thing=post["id"])):
        return placing.place(runtime, thing, caller.id, change)


def with_counts(
    database: Database[Document], reader_id: str | None, found: Sequence[ShownPost | None]
) -> list[ShownPost | None]:
    """Return posts with `reacted`: the present counts of reactions, and the reader's own.

    A copy whose post is deleted becomes None; a late delivery may leave such a copy. Costs one
    query for the posts of copies, and one for the reader's own reactions if a post has reactions.
    """
    copied = [post["id"] for post in found if post and "votes" not in post]
    counters: dict[str, Any] = {post["id"]: post for post in found if post and "votes" in post}
    counters |= _counters(database, copied)
    marked = [id_ for id_, counter in counters.items() if counter.get("marking")]
    own = reading.mine(database, reader_id, KIND, marked)
    nothing: tuple[str, ...] = ()
    return [
        {
            **post,
            "reacted": _to_reactions(
                counters[post["id"]],
                own[post["id"]].reactions if post["id"] in own else nothing,
            ),
        }
        if post and post["id"] in counters
        else None
        for post in found
    ]


def remove(database: Database[Document], post_id: str) -> None:
    """Delete the reactions to a tombstone; a tombstone accepts no new reactions."""
    removal.remove_from(database, KIND, post_id)


def _counters(database: Database[Document], post_ids: list[str]) -> dict[str, Any]:
    """Return the counts of posts, by the posts' ids."""
    if not post_ids:
        return {}
    where = {"_id": {"$in": post_ids}, **_NOT_DELETED}
    rows = posts.POSTS.read_as(Counted, database).find(where, dict.fromkeys(KIND.shown, 1))
    return {str(row["_id"]): row for row in rows}  # type: ignore[typeddict-item]


def _to_reactions(counter: Any, own: Sequence[str]) -> PostReactions:
    counts = {kind: count for kind, count in counter.get("reactions", {}).items() if count}
    return {"counts": counts, "own": sorted(own)}
