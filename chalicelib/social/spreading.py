"""Bringing what has changed on a post to every copy of it, whatever is lost on the way.

A comment, an edit, a new name and a deletion all raise the post's `spread.version` and set
`spread.due`, in the same write; a copy knows the version that it shows, so that messages may
come twice and in any order.
"""

from pymongo import ASCENDING
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social import audiences, leases, news, posts, walls
from chalicelib.social.comments import OLDER_COMMENTS
from chalicelib.social.messages import Spread
from chalicelib.social.models import COMMENTS_SHOWN
from chalicelib.social.month_copies import MonthCopies
from chalicelib.social.news_items import NewsItems
from chalicelib.social.views import View

_SWEPT_AT_ONCE = 1_000


def spread(runtime: Runtime, post_id: str) -> None:
    """Make every copy of a post what the post is, and clear the pending mark.

    The mark stays where the post was changed again in the meantime; that change's message
    clears it.
    """
    post = posts.collection(runtime.database).find_one(
        {"_id": post_id}, {"comments": {"$slice": -COMMENTS_SHOWN}}
    )
    if post is None:
        return
    if post["deleted"]:
        remove(runtime, post_id)
    else:
        for view in kept_views(runtime.database):
            view.refresh(post)
    posts.collection(runtime.database).update_one(
        {"_id": post_id, "spread.version": post["spread"]["version"]},
        {"$unset": {"spread.due": ""}},
    )


def kept_views(database: Database[Document]) -> tuple[View, ...]:
    """Return every design that keeps documents, also those that are not set.

    What a deployment wrote before it changed its design may be read again after another change.
    """
    return MonthCopies(database, walls.WALLS), MonthCopies(database, news.NEWS), NewsItems(database)


def remove(runtime: Runtime, post_id: str) -> None:
    """Remove all that hangs on a post: its copies, its older comments, its audience."""
    for view in kept_views(runtime.database):
        view.remove(post_id)
    runtime.database[OLDER_COMMENTS.name].delete_many({"post_id": post_id})
    audiences.forget(runtime.database, post_id)


def mend(runtime: Runtime, written: list[Document]) -> None:
    """Look, after copies were written, whether the posts have changed since they were read."""
    ids = [post["_id"] for post in written]
    fields = {"deleted": 1, "spread.version": 1}
    rows = posts.collection(runtime.database).find({"_id": {"$in": ids}}, fields)
    now = {row["_id"]: row for row in rows}
    for post in written:
        current = now.get(post["_id"])
        if current is None or current["deleted"]:
            remove(runtime, post["_id"])
        elif current["spread"]["version"] != post["spread"]["version"]:
            spread(runtime, post["_id"])


def sweep(runtime: Runtime) -> None:
    """Ask again for what is overdue, and give it another lease.

    What cannot be done stands behind all others then.
    """
    rows, due = posts.collection(runtime.database), {"spread.due": {"$lte": runtime.now()}}
    overdue = rows.find(due, {"_id": 1}).sort("spread.due", ASCENDING).limit(_SWEPT_AT_ONCE)
    ids = [post["_id"] for post in overdue]
    # The mark may be gone by now, and then stays so.
    later = {"spread.due": leases.lease_end(runtime)}
    rows.update_many({"_id": {"$in": ids}, **due}, {"$set": later})
    runtime.queues.send(*(Spread(post_id=post_id) for post_id in ids))
