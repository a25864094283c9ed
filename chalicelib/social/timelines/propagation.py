"""Propagation of a post's changes to every copy, despite lost messages.

A comment, an edit, a new name and a deletion all raise the post's `spread.version` and set
`spread.due`, in the write of the change. A copy has the version of its post, so messages may come
twice and in any order. A sweep sends a message for each post whose time `spread.due` has passed.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.jobs import resending
from chalicelib.jobs.resending import Resending
from chalicelib.notifications import events
from chalicelib.runtime import Runtime
from chalicelib.social.messages import Propagate
from chalicelib.social.posts import audiences, posts, reactions, votes
from chalicelib.social.posts.comments import OLDER_COMMENTS
from chalicelib.social.posts.forms import COMMENTS_SHOWN
from chalicelib.social.posts.shapes import Post, PostBody
from chalicelib.social.telling import keys_of
from chalicelib.social.timelines import news, walls
from chalicelib.social.timelines.copies import MonthCopies
from chalicelib.social.timelines.references import NewsItems
from chalicelib.social.timelines.view import StoredView

RESENDING = Resending(at="spread.due", within="spread.")
_NOT_SENT = {RESENDING.count: "", RESENDING.by: ""}


def propagate(runtime: Runtime, post_id: str) -> None:
    """Make every copy of a post equal to the post, and clear its mark `spread.due`.

    If another change raises the version meanwhile, the mark stays for that change's message. While
    a delivery may still write older copies, the mark moves to the end of the delivery's lease.
    """
    post = posts.POSTS.of(runtime.database).find_one(
        {"_id": post_id}, {"comments": {"$slice": -COMMENTS_SHOWN}}
    )
    if post is None:
        return
    again = _end_of_lease(runtime, post)
    if post["spread"].get("resends"):
        rows = posts.POSTS.of(runtime.database)
        resending.note_taken(runtime, rows, RESENDING, {"_id": post_id})
    if post["deleted"]:
        remove(runtime, post_id)
    else:
        for view in stored_views(runtime.database):
            view.refresh(post)
        if post.get("off_wall"):
            copies = MonthCopies(runtime.database, walls.WALLS)
            copies.take_from_others(post_id, post["by"]["id"])
    posts.POSTS.of(runtime.database).update_one(
        {"_id": post_id, "spread.version": post["spread"]["version"]},
        _next_due(again),
    )


def _next_due(again: datetime | None) -> Document:
    """Return the update that sets, or clears, the time of a post's next propagation."""
    if again:
        return {"$set": {RESENDING.at: again}, "$unset": _NOT_SENT}
    return {"$unset": {RESENDING.at: "", **_NOT_SENT}}


def _end_of_lease(runtime: Runtime, post: Post) -> datetime | None:
    """Return the end of the lease of a worker that may still write older copies of a post.

    None: there is no such worker. If a worker dies between its write and its repair, only a further
    propagation after its lease is sure to update these copies.
    """
    fan_out = post["fan_out"]
    may_run = post["deleted"] or fan_out["state"] != "done"
    return fan_out["expires_at"] if may_run and fan_out["expires_at"] > runtime.now() else None


def stored_views(database: Database[Document]) -> tuple[StoredView, ...]:
    """Return the view of every design that stores documents, in use or not.

    A deployment may return to a former design, and then readers read its documents again.
    """
    return MonthCopies(database, walls.WALLS), MonthCopies(database, news.NEWS), NewsItems(database)


def remove(runtime: Runtime, post_id: str) -> None:
    """Remove everything stored for a deleted post outside its tombstone, and its notifications."""
    for view in stored_views(runtime.database):
        view.remove(post_id)
    OLDER_COMMENTS.of(runtime.database).delete_many({"post_id": post_id})
    votes.remove(runtime.database, post_id)
    reactions.remove(runtime.database, post_id)
    audiences.forget(runtime.database, post_id)
    if runtime.settings.social_notifications:
        events.withdraw_below(runtime, keys_of(post_id))


def repair(runtime: Runtime, written: Sequence[PostBody]) -> None:
    """Propagate each post that changed between its read and the write of its copies.

    If a post was deleted meanwhile, remove its copies. `written`: the posts as read for the copies.
    """
    ids = [post["_id"] for post in written]
    fields = {"deleted": 1, "spread.version": 1}
    rows = posts.POSTS.of(runtime.database).find({"_id": {"$in": ids}}, fields)
    now = {row["_id"]: row for row in rows}
    for post in written:
        current = now.get(post["_id"])
        if current is None or current["deleted"]:
            remove(runtime, post["_id"])
        elif current["spread"]["version"] != post["spread"]["version"]:
            propagate(runtime, post["_id"])


def sweep(runtime: Runtime) -> None:
    """Send a message for each post with an overdue propagation."""

    def messages(rows: Iterable[Post]) -> Iterator[Propagate]:
        return (Propagate(post_id=row["_id"]) for row in rows)

    resending.sweep(runtime, posts.POSTS.of(runtime.database), RESENDING, messages)
