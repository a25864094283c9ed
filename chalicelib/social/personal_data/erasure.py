"""Erasing a user: deleting everything that is theirs or names them."""

from datetime import datetime
from typing import Any

from pymongo.client_session import ClientSession
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database

from chalicelib.comments import authors
from chalicelib.database import Document, in_transaction
from chalicelib.errors import Unavailable
from chalicelib.identity import Principal
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime
from chalicelib.social import outbox
from chalicelib.social.activity import erasure as activity
from chalicelib.social.graph import circles, following, memberships, users
from chalicelib.social.graph.stores.edges import EDGES
from chalicelib.social.messages import Erase, EraseLate
from chalicelib.social.paging.id_range import IdRange
from chalicelib.social.posts import audiences, posts
from chalicelib.social.posts.audiences import AUDIENCES
from chalicelib.social.posts.comments import OLDER_COMMENTS
from chalicelib.social.timelines import propagation


def ask(runtime: Runtime, caller: Principal) -> int:
    """Begin the erasure of the caller; return how many documents of theirs are left."""
    erase_ = Erase(user_id=caller.id)
    outbox.note(runtime, erase_)
    runtime.queues.send(erase_)
    return remaining(runtime, caller.id)


def erase(runtime: Runtime, user_id: str) -> None:
    """Erase a user; every step may be repeated, so that repeating it repairs a crash.

    It is also repeated if others have written something of the user's in the meantime, and
    continues in another message after a step of comments. What is written after the end, by
    requests that began before it, is erased when none of them can still be running.
    """
    if _exists(runtime, user_id):
        _leave_graph(runtime, user_id)
    _erase_posts(runtime, user_id)
    _erase_comments(runtime, user_id)
    step = authors.erase(runtime, user_id)
    for view in propagation.kept_views(runtime.database):
        view.erase(user_id)
    audiences.forget_member(runtime.database, user_id)
    activity.erase(runtime, user_id)
    _delete_user(runtime, user_id)
    outbox.JOBS.of(runtime.database).delete_many(outbox.noted_for(user_id))
    ended = runtime.now()
    left = remaining(runtime, user_id)
    if left:
        outbox.note(runtime, Erase(user_id=user_id))
        if step is authors.Step.MORE:
            runtime.queues.send(Erase(user_id=user_id))
    else:
        late = EraseLate(user_id=user_id, until=ended)
        outbox.note(runtime, late, due=ended + outbox.OUTLIVES_ALL)
    log.info("user erased", extra={"fields": {"remaining": left}})


def erase_late(runtime: Runtime, user_id: str, until: datetime) -> None:
    """Erase what a user wrote up to a time; what they have written since is a new beginning.

    Raises Unavailable if something is left: the job stays, and is run again.
    """
    _erase_posts(runtime, user_id, until)
    _erase_comments(runtime, user_id, until)
    if authors.erase(runtime, user_id, until) is not authors.Step.DONE:
        raise Unavailable("Some comments are not erased yet")


def remaining(runtime: Runtime, user_id: str) -> int:
    """Count the documents that are a user's or name the user, in all collections."""
    found = traces(runtime.database, user_id)
    return sum(rows.count_documents(where) for rows, where in found) + sum(
        view.count(user_id) for view in propagation.kept_views(runtime.database)
    )


def traces(
    database: Database[Document], user_id: str
) -> list[tuple[MongoCollection[Any], Document]]:
    """Return collections and filters of documents that are a user's or name the user.

    The views count their own.
    """
    return [
        (users.USERS.of(database), {"_id": user_id}),
        (users.USERS.of(database), {"blocked": user_id}),
        (users.USERS.of(database), {"blocked_by": user_id}),
        (EDGES.of(database), {"_id.owner": user_id}),
        (EDGES.of(database), {"_id.member": user_id}),
        (posts.POSTS.of(database), {"by.id": user_id}),
        (posts.POSTS.of(database), {"wall": user_id}),
        (posts.POSTS.of(database), {"comments.by.id": user_id}),
        (OLDER_COMMENTS.of(database), {"by.id": user_id}),
        (AUDIENCES.of(database), {"members": user_id}),
        (outbox.JOBS.of(database), outbox.noted_for(user_id)),
        *activity.traces(database, user_id),
        *authors.traces(database, user_id),
    ]


def _exists(runtime: Runtime, user_id: str) -> bool:
    people = users.USERS.of(runtime.database)
    return people.find_one({"_id": user_id}, {"_id": 1}) is not None


def _delete_user(runtime: Runtime, user_id: str) -> None:
    """Delete the user's document, once nobody circles or blocks the user."""
    alone: Document = {"circles": {}, "followers": {}, "blocked": [], "blocked_by": []}
    while _exists(runtime, user_id):
        _leave_graph(runtime, user_id)
        users.USERS.of(runtime.database).delete_one({"_id": user_id, **alone})


def _leave_graph(runtime: Runtime, user_id: str) -> None:
    for circle in circles.list_all(runtime.database, user_id):
        circles.delete(runtime, user_id, circle["id"])
    for page in following.all_followers(runtime.database, user_id):
        for owner in page:
            memberships.end_following(runtime, owner.id, user_id)
    store = following.store_of(runtime.database, user_id)
    for member in store.members(user_id, None, IdRange()):
        memberships.end_following(runtime, user_id, member.id)
    people = users.USERS.of(runtime.database)
    people.update_one({"_id": user_id}, {"$set": {"blocked": [], "blocked_by": []}})
    for field in ("blocked", "blocked_by"):
        people.update_many({field: user_id}, {"$pull": {field: user_id}})


def _erase_posts(runtime: Runtime, user_id: str, until: datetime | None = None) -> None:
    """Delete the user's posts; what others wrote to the user's wall goes back to their own."""
    rows = posts.POSTS.of(runtime.database)
    for post in rows.find({"by.id": user_id, **_up_to(until)}, {"_id": 1}):
        posts.bury(runtime, post["_id"])
        propagation.remove(runtime, post["_id"])
        rows.delete_one({"_id": post["_id"]})
        # A delivery that is under way checks whether the post is still there.
    for post in rows.find({"wall": user_id, **_up_to(until)}, {"by.id": 1}):
        own = posts.marked(runtime, {"$set": {"wall": post["by"]["id"]}})
        rows.update_one({"_id": post["_id"]}, own)
        # At once, so that nothing is left when this ends; if it is cut short, a sweep does it.
        propagation.propagate(runtime, post["_id"])


def _erase_comments(runtime: Runtime, user_id: str, until: datetime | None = None) -> None:
    rows = posts.POSTS.of(runtime.database)
    for post in rows.find({"comments.by.id": user_id}, {"comments": 1}):
        for comment in post["comments"]:
            if comment["by"]["id"] == user_id and (until is None or comment["ts"] <= until):
                _forget(runtime, post["_id"], comment["id"])
    # Afterwards, since comments move from the post to here.
    for comment in OLDER_COMMENTS.of(runtime.database).find({"by.id": user_id, **_up_to(until)}):
        _forget(runtime, comment["post_id"], comment["id"])


def _up_to(until: datetime | None) -> dict[str, Any]:
    return {"ts": {"$lte": until}} if until else {}


def _forget(runtime: Runtime, post_id: str, comment_id: str) -> None:
    """Delete a comment, on the post or moved off it, and count one less, both or neither."""
    older, rows = OLDER_COMMENTS.of(runtime.database), posts.POSTS.of(runtime.database)
    gone = {"$pull": {"comments": {"id": comment_id}}, "$inc": {"comment_count": -1}}

    def work(session: ClientSession) -> None:
        older.delete_one({"_id": comment_id, "post_id": post_id}, session=session)
        rows.update_one({"_id": post_id}, posts.marked(runtime, gone), session=session)

    in_transaction(runtime.database, work)
    propagation.propagate(runtime, post_id)
