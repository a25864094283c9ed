"""A person's data in the social feed: renamed, erased and found for `chalicelib.people`."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from typing import Any, TypeVar, get_args

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib import deadlines
from chalicelib.database import Document, in_transaction
from chalicelib.jobs import outbox
from chalicelib.people.features import Step, Trace, job_entries
from chalicelib.runtime import Runtime
from chalicelib.social import personal_export
from chalicelib.social.graph import circles, following, memberships, users, watches
from chalicelib.social.graph.store import GraphPerson
from chalicelib.social.graph.stores.edges import EDGES, EdgeGraph, End
from chalicelib.social.graph.stores.embedded import EmbeddedGraph
from chalicelib.social.messages import (
    FeedKind,
    NotifyFeed,
    NotifyWatchers,
    Propagate,
    Rebuild,
    Trim,
)
from chalicelib.social.paging import IdRange
from chalicelib.social.posts import audiences, comment_changes, comments, posts, votes
from chalicelib.social.posts.audiences import AUDIENCES
from chalicelib.social.posts.comments import OLDER_COMMENTS
from chalicelib.social.posts.votes import VOTES
from chalicelib.social.timelines import propagation, repair

# Erasure: everything that belongs to a user or names the user.


# The share of an invocation's remaining time for one step; later features need the rest.
_PART_OF_TIME = 0.5
# The most posts with a user's comments to read at once, and the most older comments.
_POSTS_AT_ONCE = 200
_Each = TypeVar("_Each")
# Returns whether the step has time left.
_Check = Callable[[], bool]


class _TimeUsed(Exception):
    """A step of an erasure has used its time; the next step continues."""


def erase(runtime: Runtime, user_id: str, until: datetime | None = None) -> Step:
    """Erase a user from the social feed, one step a call; `Step.MORE`: call again.

    A user may have a million followers and posts, so a step ends after half of the remaining time.
    With `until`, erase only the user's texts, votes, watches and copies of posts up to then.
    """
    is_time = deadlines.share(_PART_OF_TIME)
    try:
        if until is None:
            _erase(runtime, user_id, is_time)
        else:
            _erase_late(runtime, user_id, until, is_time)
    except _TimeUsed:
        return Step.MORE
    return Step.DONE


def _erase(runtime: Runtime, user_id: str, is_time: _Check) -> None:
    if _exists(runtime, user_id):
        _leave_graph(runtime, user_id, is_time)
    _erase_posts(runtime, user_id, is_time)
    _erase_comments(runtime, user_id, is_time)
    _erase_votes(runtime, user_id, is_time)
    for view in propagation.stored_views(runtime.database):
        view.erase(user_id)
    audiences.forget_member(runtime.database, user_id)
    watches.erase(runtime.database, user_id)
    _delete_user(runtime, user_id, is_time)
    _end_late_ties(runtime, user_id, is_time)
    outbox.JOBS.of(runtime.database).delete_many(_jobs_for(user_id))


def _erase_late(runtime: Runtime, user_id: str, until: datetime, is_time: _Check) -> None:
    _erase_posts(runtime, user_id, is_time, until)
    _erase_comments(runtime, user_id, is_time, until)
    _erase_votes(runtime, user_id, is_time, until)
    watches.erase(runtime.database, user_id, until)
    _erase_late_copies(runtime, user_id, until)


def _in_time(rows: Iterable[_Each], is_time: _Check) -> Iterator[_Each]:
    """Yield rows while the step has time; raises _TimeUsed before the next row."""
    for row in rows:
        if not is_time():
            raise _TimeUsed
        yield row


def traces(database: Database[Document], user_id: str) -> list[Trace]:
    """Return collections and filters of documents that belong to a user or name the user."""
    show, people = personal_export.OfUser(user_id), users.USERS.of(database)
    edges, written = EDGES.of(database), posts.POSTS.of(database)
    watched = watches.AUTHOR_WATCHES.of(database)
    older, jobs = OLDER_COMMENTS.of(database), outbox.JOBS.of(database)
    return [
        Trace("user", people, {"_id": user_id}, show.user),
        Trace("blocked by", people, {"blocked": user_id}, not_shown="who blocks is not told"),
        Trace("blocked", people, {"blocked_by": user_id}, not_shown="the user has the other end"),
        Trace("members", edges, {"_id.owner": user_id}, show.member),
        Trace("followers", edges, {"_id.member": user_id}, show.follower),
        Trace("posts", written, {"by.id": user_id}, show.post),
        Trace("wall posts", written, {"wall": user_id}, show.wall_post),
        Trace("post comments", written, {"comments.by.id": user_id}, show.own_comments),
        Trace("older post comments", older, {"by.id": user_id}, show.older_comment),
        Trace("votes", VOTES.of(database), {"user_id": user_id}, show.vote),
        Trace("audiences", AUDIENCES.of(database), {"members": user_id}, show.addressed_post),
        Trace("author watches", watched, {"user_id": user_id}, show.watch),
        Trace("watched by", watched, {"author_id": user_id}, not_shown="who watches is not told"),
        Trace("social jobs", jobs, _jobs_for(user_id), job_entries),
        *(view.trace(user_id) for view in propagation.stored_views(database)),
    ]


def _jobs_for(user_id: str) -> Document:
    """Return the filter of the jobs for one user.

    It omits jobs for two users, and jobs of others that continue after the user's id: the outbox
    deletes such jobs after they run.
    """
    acts: list[NotifyFeed | NotifyWatchers] = [NotifyWatchers(by=user_id, thing="")]
    acts += [NotifyFeed(by=user_id, kind=kind) for kind in get_args(FeedKind)]
    one = outbox.filter_of(Rebuild(user_id=user_id), Trim(user_id=user_id))
    return {"$or": [one, *(outbox.filter_from(act) for act in acts)]}


def _exists(runtime: Runtime, user_id: str) -> bool:
    people = users.USERS.of(runtime.database)
    return people.find_one({"_id": user_id}, {"_id": 1}) is not None


def _delete_user(runtime: Runtime, user_id: str, is_time: _Check) -> None:
    """Delete the user's document, once it has no circles, followers, blocks or profile."""
    alone: Document = {"circles": {}, "followers": {}, "blocked": [], "blocked_by": []}
    # A profile counts as a use of its pictures.
    alone["profile"] = {"$in": [{}, None]}
    while _exists(runtime, user_id):
        users.forget_profile(runtime, user_id)
        _leave_graph(runtime, user_id, is_time)
        users.USERS.of(runtime.database).delete_one({"_id": user_id, **alone})


def _end_late_ties(runtime: Runtime, user_id: str, is_time: _Check) -> None:
    """End ties that others made during the deletion of a promoted user.

    The document of a promoted user names no followers, so `_delete_user` did not wait for them.
    """
    for page in following.pages(partial(EdgeGraph(runtime.database).followers, user_id)):
        for owner in _in_time(page, is_time):
            memberships.end_following(runtime, owner.id, user_id)


def _leave_graph(runtime: Runtime, user_id: str, is_time: _Check) -> None:
    for circle in circles.list_all(runtime.database, user_id):
        circles.delete(runtime, user_id, circle["id"])
    for page in following.all_followers(runtime.database, user_id):
        for owner in _in_time(page, is_time):
            memberships.end_following(runtime, owner.id, user_id)
    store = following.store_of(runtime.database, user_id)
    for member in _in_time(store.members(user_id, None, IdRange()), is_time):
        memberships.end_following(runtime, user_id, member.id)
    people = users.USERS.of(runtime.database)
    people.update_one({"_id": user_id}, {"$set": {"blocked": [], "blocked_by": []}})
    for field in ("blocked", "blocked_by"):
        people.update_many({field: user_id}, {"$pull": {field: user_id}})


def _erase_late_copies(runtime: Runtime, user_id: str, until: datetime) -> None:
    """Erase copies of posts up to a time from the views of an erased user.

    A delivery or a repair in progress may have stored such copies after the erasure. If the user
    has returned, some may belong to the user's present news, so a rebuild follows.
    """
    # First, so that pages read the posts themselves until the rebuild ends.
    users.USERS.of(runtime.database).update_one({"_id": user_id}, {"$set": {"stale": True}})
    for view in propagation.stored_views(runtime.database):
        view.erase(user_id, until)
    audiences.forget_member(runtime.database, user_id, until)
    if _exists(runtime, user_id):
        repair.rebuild(runtime, user_id)


def _erase_posts(
    runtime: Runtime, user_id: str, is_time: _Check, until: datetime | None = None
) -> None:
    """Delete the user's posts; posts of others on the user's wall go to their authors' walls."""
    rows = posts.POSTS.of(runtime.database)
    own = rows.find({"by.id": user_id, **_up_to(until)}, {"_id": 1})
    for post in _in_time(own, is_time):
        posts.bury(runtime, post["_id"])
        propagation.remove(runtime, post["_id"])
        rows.delete_one({"_id": post["_id"]})
        # A delivery in progress checks whether the post still exists.
    on_wall = rows.find({"wall": user_id, **_up_to(until)}, {"by.id": 1})
    for post in _in_time(on_wall, is_time):
        moved = posts.mark_behind(runtime, {"$set": {"wall": post["by"]["id"]}})
        rows.update_one({"_id": post["_id"]}, moved)
        # Propagate here, so that no copy outlives the erasure. After a crash, a sweep does it.
        propagation.propagate(runtime, post["_id"])


def _erase_comments(
    runtime: Runtime, user_id: str, is_time: _Check, until: datetime | None = None
) -> None:
    # Repeat until none remain: comments move between the post and the older comments.
    while written := _comments_of(runtime.database, user_id, until):
        for post_id, comment_id in _in_time(written, is_time):
            if comment_changes.take_out(runtime, post_id, comment_id):
                propagation.propagate(runtime, post_id)


def _comments_of(
    database: Database[Document], user_id: str, until: datetime | None
) -> list[tuple[str, str]]:
    """Return `(post id, comment id)` of some of a user's comments; empty if none is left."""
    mine = {"by.id": user_id, **_up_to(until)}
    here = {"comments": {"$elemMatch": mine}}
    rows = posts.POSTS.of(database).find(here, {"comments": 1}).limit(_POSTS_AT_ONCE)
    on_posts = [
        (post["_id"], comment["id"])
        for post in rows
        for comment in post["comments"]
        if comment["by"]["id"] == user_id and (until is None or comment["ts"] <= until)
    ]
    older = OLDER_COMMENTS.of(database).find(mine, {"post_id": 1})
    some = older.limit(_POSTS_AT_ONCE)
    return on_posts + [(comment["post_id"], comment["_id"]) for comment in some]


def _erase_votes(
    runtime: Runtime, user_id: str, is_time: _Check, until: datetime | None = None
) -> None:
    mine = {"user_id": user_id, **_up_to(until)}
    for vote in _in_time(VOTES.of(runtime.database).find(mine, {"post_id": 1}), is_time):
        votes.take_back(runtime.database, user_id, vote["post_id"], until)


def _up_to(until: datetime | None) -> dict[str, Any]:
    return {"ts": {"$lte": until}} if until else {}


# Renaming: a worker stops if the user takes another name meanwhile.

Listing = Callable[[IdRange], list[GraphPerson]]


def rename(runtime: Runtime, user_id: str, name: str) -> None:
    """Write a user's name to every copy; stop changing posts if the user takes another name."""
    person = GraphPerson(user_id, name)
    _in_graph(runtime.database, person)
    other = {"by.id": user_id, "by.name": {"$ne": person.name}}
    _on_posts(runtime, person, other, {"by.name": person.name}, [])
    each = {f"each.{field}": value for field, value in other.items()}
    _on_posts(
        runtime,
        person,
        {"comments": {"$elemMatch": other}},
        {"comments.$[each].by.name": person.name},
        [each],
    )
    older = comments.OLDER_COMMENTS.of(runtime.database)
    older.update_many(other, {"$set": {"by.name": person.name}})


def _in_graph(database: Database[Document], person: GraphPerson) -> None:
    """Rename a person in the ties to their followers and to their members.

    The embedded store comes first, as a promotion moves ties from it to the edges. There may be a
    million edges. The listings omit edges that already have the name, so a worker that ran out of
    time does not begin anew.
    """
    embedded, edges = EmbeddedGraph(database), EdgeGraph(database)
    listings: tuple[tuple[End, Listing], ...] = (
        ("member", partial(embedded.followers, person.id)),
        ("owner", partial(embedded.members, person.id, None)),
        ("member", partial(edges.former_name_holders, person, "member")),
        ("owner", partial(edges.former_name_holders, person, "owner")),
    )
    for side, fetch in listings:
        for page in following.pages(fetch):
            _on_ties(database, person, side, [each.id for each in page])


def _on_ties(
    database: Database[Document], person: GraphPerson, side: End, others: list[str]
) -> None:
    """Rename a person at one end of the ties to others, in one transaction for both stores.

    Otherwise an edge could have a name that a user's document lacks.
    """
    owners, members = ([], others) if side == "owner" else (others, [])

    def work(session: ClientSession) -> None:
        for store in following.stores(database).values():
            store.rename(person, owners, members, session)

    in_transaction(database, work)


def _on_posts(
    runtime: Runtime,
    person: GraphPerson,
    where: Document,
    change: Document,
    filters: list[Document],
) -> None:
    """Change the posts that match `where`, some at a time, and send their propagation.

    Stops if the person has another name by now.
    """
    rows, most = posts.POSTS.of(runtime.database), runtime.bounds.social.posts_renamed_at_once
    while found := [post["_id"] for post in rows.find(where, {"_id": 1}).limit(most)]:
        if not _is_called(runtime.database, person):
            return
        update = posts.mark_behind(runtime, {"$set": change})
        rows.update_many({"_id": {"$in": found}}, update, array_filters=filters or None)
        runtime.queues.send(*(Propagate(post_id=post_id) for post_id in found))


def _is_called(database: Database[Document], person: GraphPerson) -> bool:
    """Return whether the user still has this name; two workers could undo each other's work."""
    now = {"_id": person.id, "name": person.name}
    return users.USERS.of(database).find_one(now, {"_id": 1}) is not None


__all__ = ["erase", "rename", "traces"]
