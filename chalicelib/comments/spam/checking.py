"""The spam worker: it asks a service about waiting comments, and sends the service corrections.

Each step changes only values that are still as read. So a repeated message, or a crash at any
place, repeats nothing but a call to the service.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from chalicelib.comments import nodes
from chalicelib.comments.entries import writing as entries
from chalicelib.comments.entries.rows import ENTRIES, QUEUED
from chalicelib.comments.errors import NodeMoved, UnknownNode
from chalicelib.comments.people.counting import recounting
from chalicelib.comments.shapes import Comment, CommentFields, Node, PlacedComment
from chalicelib.comments.sites import settings
from chalicelib.comments.spam_check import origins
from chalicelib.comments.spam_check.origins import WORK, Origin
from chalicelib.comments.spam_check.services import Answer, Facts, SpamCheck, service_of
from chalicelib.comments.store import GONE, WIPED, state_for_author
from chalicelib.comments.stores import ask
from chalicelib.comments.writing import decisions, filing
from chalicelib.comments.writing.changes import change_comment
from chalicelib.errors import Unavailable
from chalicelib.jobs.sweeping import Sweep
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

MOST_TRIES = 3


def run(runtime: Runtime, origin_id: str, service: SpamCheck | None = None) -> None:
    """Do the task at a comment's origin; without a task, or under another's lease, do nothing.

    Raises Unavailable while the node of the comment is being moved.
    """
    origin = WORK.take(runtime, {"_id": origin_id}, {"$inc": {"tries": 1}})
    if origin is None:
        return
    placed = _find(runtime, origin["node_id"], origin["comment_id"])
    if placed is None:
        # Perhaps not stored yet: a post notes its origin first.
        _leave(runtime, origin)
    elif origin["task"] == "check" or _waits(placed.comment):
        # The second case: a decision that failed has replaced the task `check`.
        _check(runtime, origin, placed, service or service_of(runtime))
    else:
        _correct(runtime, origin, placed, service or service_of(runtime))


def _find(runtime: Runtime, node_id: str, comment_id: str) -> PlacedComment | None:
    """Return a comment, also from a moved node; None: no living comment has this id."""
    try:
        node = nodes.find(runtime.database, node_id)
    except NodeMoved as moved:
        return _find(runtime, moved.moved_to, comment_id)
    except UnknownNode:
        return None
    found = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    return None if found is None or found["state"] in GONE else PlacedComment(node, found)


def _waits(comment: Comment) -> bool:
    return state_for_author(comment) == "pending" and "checking" in comment.get("reasons", [])


def _check(
    runtime: Runtime, origin: Origin, placed: PlacedComment, service: SpamCheck | None
) -> None:
    node, comment = placed
    if not _waits(comment):
        # A moderator was quicker, or an earlier worker crashed before `_finish`.
        _finish(runtime, origin, origin["answer"])
        return
    facts = _facts(runtime, origin, placed)
    answer: Answer = "unknown" if service is None or facts is None else service.check(facts)
    if answer == "unknown" and origin["tries"] < MOST_TRIES:
        WORK.release(runtime, origin)
        return
    now = runtime.now()
    if not decisions.conclude(runtime, node, comment, filing.fields_of_check(comment, answer, now)):
        # An edit, decision or deletion came between: look again.
        WORK.release(runtime, origin)
    elif answer == "discard":
        origins.remove(runtime, origin)
    else:
        _finish(runtime, origin, None if answer == "unknown" else answer)
    log.info("comment checked", extra={"fields": {"site": node["site"], "answer": answer}})


def _correct(
    runtime: Runtime, origin: Origin, placed: PlacedComment, service: SpamCheck | None
) -> None:
    """Send a moderator's decision to the service, if the comment still has the decided state."""
    task = origin["task"]
    holds = placed.comment["state"] == ("spam" if task == "spam" else "visible")
    facts = _facts(runtime, origin, placed)
    if service is None or facts is None or not holds:
        _finish(runtime, origin, origin["answer"])
    elif task != "check" and service.correct(facts, task):
        _finish(runtime, origin, task)
    else:
        _leave(runtime, origin)


def _leave(runtime: Runtime, origin: Origin) -> None:
    """Release a task for another try; after the last try, end the task."""
    if origin["tries"] < MOST_TRIES:
        WORK.release(runtime, origin)
    else:
        _finish(runtime, origin, origin["answer"])


def _finish(runtime: Runtime, origin: Origin, answer: str | None) -> None:
    """End the task, unless a call noted another task meanwhile."""
    WORK.finish(runtime, origin, {"answer": answer})


def _facts(runtime: Runtime, origin: Origin, placed: PlacedComment) -> Facts | None:
    """Return the facts on a comment for a service; None: its site no longer uses one."""
    node, comment = placed
    site_url = settings.of(runtime, node["site"]).get("spam_check_url")
    if not site_url:
        return None
    return Facts(
        site_url=site_url,
        page_url=node["url"],
        is_reply=comment["parent_id"] is not None,
        text=comment["text"] or "",
        posted=comment["posted"],
        author_name=_name(comment),
        address=origin["address"],
        agent=origin["agent"],
    )


def _name(comment: Comment) -> str:
    return comment["author"]["name"] if comment["author"] else ""


# The schedule wipes comments that have been spam for thirty days, as a deletion by staff does.

KEPT = timedelta(days=30)
_SWEPT_AT_ONCE = 200
_SWEEP = Sweep(ENTRIES, "queued_at", KEPT, where={"$and": [QUEUED, {"queue": "spam"}]})


def wipe_overdue(runtime: Runtime) -> int:
    """Wipe comments that have been spam for thirty days, the oldest first; return the number."""
    until, wiped = runtime.now() - KEPT, 0
    for row in _SWEEP.find(runtime, _SWEPT_AT_ONCE):
        node = nodes.look(runtime.database, row["node_id"])
        if node is None or "vacant" in node:
            # A node that has moved takes its entries along.
            continue
        try:
            wiped += _wipe(runtime, node, row, until)
        except Unavailable:
            log.info("spam waits for the move of its node")
    return wiped


def _wipe(runtime: Runtime, node: Node, row: Mapping[str, Any], until: datetime) -> bool:
    """Wipe a comment that its entry calls spam; return whether this call wiped it.

    False: the comment is gone, is not overdue spam, or changed meanwhile.
    Corrects an entry that disagrees with its comment.
    """
    comment_id: str = row["id"]
    found = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    if found is None:
        # A post crashed half way: have the node compared with its entries.
        nodes.touch(runtime, node["_id"])
        return False
    if not _is_over(found, until):
        entries.settle(runtime.database, node, found)
        return False
    author = found["author"]["id"] if found["author"] else None
    with recounting(runtime, node["site"], author):
        where: CommentFields = {"state": found["state"], "spam_since": found["spam_since"]}
        return change_comment(runtime, node, comment_id, WIPED, where) is not None


def _is_over(comment: Comment, until: datetime) -> bool:
    since = comment.get("spam_since")
    return comment["state"] == "spam" and since is not None and since <= until
