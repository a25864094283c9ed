"""Moderators' decisions as causes of notifications, for the authors of comments.

A notification follows the state that the author sees: spam looks pending, and a shadowed comment
has the state that it would have without the shadow.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import cast

from chalicelib.comments.log.rows import LOG, Act, key_of
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.store import state_for_author
from chalicelib.notifications import events
from chalicelib.notifications.events import NotificationEvent
from chalicelib.notifications.rows import Kind
from chalicelib.runtime import Runtime

DECIDED: frozenset[Kind] = frozenset({"comment.approved", "comment.rejected"})


def kind_of(before: Comment, after: Comment) -> Kind | None:
    """Return the kind of news in a change of the state that the author sees; None: no news."""
    was, now = state_for_author(before), state_for_author(after)
    if now == "visible" and was in {"pending", "hidden"}:
        return "comment.approved"
    if now == "hidden" and was in {"pending", "visible"}:
        return "comment.rejected"
    return None


def is_true(comment: Comment, kind: Kind) -> bool:
    """Return whether a notification of a decision agrees with the comment as it is now."""
    return state_for_author(comment) == ("visible" if kind == "comment.approved" else "hidden")


def notify_author(
    runtime: Runtime, node: Node, comment: Comment, thing: str, read_at: datetime
) -> None:
    """Notify the author of a comment of the last decision on it; a repeat changes nothing.

    `read_at`: a time before the read of the comment.
    """
    act_id = comment.get("act")
    act = LOG.of(runtime.database).find_one(key_of(act_id)) if act_id else None
    if act is None:
        return
    author, kind = _news(comment, act)
    if author is None or kind is None or act["by"] in {None, author}:
        return
    event = NotificationEvent(
        key=f"decided/{comment['id']}/{act_id}",
        site=node["site"],
        thing=thing,
        by="",
        at=act["at"],
        recipients={author: kind},
        # No item needs a withdrawal: the inbox shows only decisions that `is_true` confirms.
        is_new=True,
    )
    events.agree(runtime, event, read_at)


def _news(comment: Comment, act: Act) -> tuple[str | None, Kind | None]:
    """Return the author of a comment, and the kind of news in the last act on it."""
    if comment["author"] is not None:
        return comment["author"]["id"], kind_of(_as_before(comment, act), comment)
    # Of a deleted comment the log alone knows the author, until their erasure.
    is_news = act["action"] == "delete" and act["before"].get("state") in {"visible", "pending"}
    return (act["person"], "comment.rejected") if is_news else (None, None)


def authors_of_deleted(runtime: Runtime, comments: Iterable[Comment]) -> dict[str, str]:
    """Return the authors of comments that moderators deleted, by the ids of the acts."""
    gone = [each for each in comments if each["author"] is None]
    ids = sorted({act for each in gone if (act := each.get("act"))})
    if not ids:
        return {}
    sites = sorted({str(key_of(each)["site"]) for each in ids})
    where = {"_id": {"$in": ids}, "site": {"$in": sites}, "action": "delete"}
    found = LOG.of(runtime.database).find(where, {"person": 1})
    return {each["_id"]: each["person"] for each in found if each["person"]}


def _as_before(comment: Comment, act: Act) -> Comment:
    """Return a comment with the values that its fields had before an act."""
    return cast("Comment", {**comment, "shadow": None, **act["before"]})
