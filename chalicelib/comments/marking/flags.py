"""Flags on comments: readers place them, moderators list them, and their weight hides a comment."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from chalicelib.comments import happened, nodes
from chalicelib.comments.entries import reported, writing
from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.entries.reported import is_over, is_protected, report_fields
from chalicelib.comments.entries.rows import ENTRIES, key_of, revision_of
from chalicelib.comments.errors import OwnComment
from chalicelib.comments.marking.flag_forms import CommentFlag, FlagAnswer, FlagsAnswer, FlagsQuery
from chalicelib.comments.marking.votes import MarkTarget, find
from chalicelib.comments.people import changing
from chalicelib.comments.people.rows import check_not_joined, flag_weight, flags_are_heard
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.sites import settings
from chalicelib.comments.stores import ask
from chalicelib.comments.writing.decisions import hold_back, show_again
from chalicelib.database import Document
from chalicelib.errors import Unavailable, UnknownComment
from chalicelib.http.paging import Cursors, page_of
from chalicelib.identity import Principal
from chalicelib.jobs.sweeping import Sweep
from chalicelib.marks import reading
from chalicelib.marks.placing import NO_FLAG, Change, Flag, Marked, place
from chalicelib.marks.shapes import Thing
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import check_moderator, moderates

# A flag's transaction sets `hold_at` on the entry if the comment must wait hidden or enter the
# queue. The same call then does this and removes `hold_at`; after a crash, the sweep does.

# Longer than any call that stores a flag.
OVERDUE = timedelta(minutes=1)
_SWEPT_AT_ONCE = 500
_ATTEMPTS = 3
_READ = ("hold_at", "node_id", "id", "flags", "cleared", "revision", "featured")
_SWEEP = Sweep(ENTRIES, "hold_at", after=OVERDUE, fields=dict.fromkeys(_READ, 1))


def tend(runtime: Runtime, node: Node, comment_id: str, entry: Mapping[str, Any]) -> bool:
    """Hold a flagged comment back or queue it, by its entry's weight; True: held back.

    If changes of the comment overtake three attempts, the sweep does the work.
    """
    for _ in range(_ATTEMPTS):
        comment = ask(runtime, node, lambda store, current: store.get(current, comment_id))
        if comment is None or comment["state"] != "visible":
            # A decision or a deletion came first, or the comment was never stored.
            done = {"$unset": {"hold_at": ""}}
            ENTRIES.of(runtime.database).update_one(key_of(node, comment_id), done)
            return False
        is_held = is_over(entry, held_from(runtime, node))
        if is_held and not is_protected(node, entry, comment):
            if hold_back(runtime, node, comment):
                # A moderator may have decided on its flags in that moment.
                return not show_again(runtime, node, comment_id)
        elif _queue(runtime, node, comment):
            return False
    return False


def held_from(runtime: Runtime, node: Node) -> int:
    """Return the weight in hundredths from which flags in a node hold a comment back."""
    return 100 * settings.in_force(runtime, node)["flags_hold"]


def _queue(runtime: Runtime, node: Node, comment: Comment) -> bool:
    """Queue a reported visible comment; return False if it changed since it was read."""
    key = key_of(node, comment["id"])
    # An entry without a revision has revision 0; None matches the missing field.
    as_read = {"state": "visible", "revision": revision_of(comment) or None}
    update: list[Document] = [{"$set": report_fields(comment)}, {"$unset": "hold_at"}]
    return ENTRIES.of(runtime.database).update_one({**key, **as_read}, update).matched_count == 1


def sweep(runtime: Runtime) -> int:
    """Finish the work of crashed calls; return the number of comments held back."""
    held = 0
    for row in _SWEEP.find(runtime, _SWEPT_AT_ONCE):
        node = nodes.look(runtime.database, row["node_id"])
        if node is None or "vacant" in node:
            # A moved node takes its entries along, with their `hold_at`.
            continue
        try:
            held += tend(runtime, node, row["id"], row)
        except Unavailable:
            log.info("a flagged comment waits for the move of its node")
    return held


def flag(
    runtime: Runtime, node_id: str, comment_id: str, caller: Principal, body: CommentFlag
) -> None:
    """Store the caller's flag on a comment, and queue the comment or hold it back.

    A repeated flag changes nothing. After a decision on the caller's flag, a new flag changes
    nothing until an edit of the text. Raises UnknownNode, NodeMoved, UnknownComment, OwnComment,
    and Unauthenticated for a guest whose past an account has.
    """
    target = find(runtime, node_id, comment_id, caller)
    if target.entry["author_id"] == caller.id:
        raise OwnComment
    node, site = target.node, target.node["site"]
    person, is_staff = changing.find(runtime.database, site, caller.id), moderates(caller, site)
    check_not_joined(person)
    weight = flag_weight(person, runtime.now(), is_staff=is_staff)
    is_heard = is_staff or flags_are_heard(person, runtime.now())
    owes = reported.owes(held_from(runtime, node))
    if is_heard:
        # Before the flag: if a crash follows the flag, the sweep of entries sends the event.
        writing.owe(runtime, node, comment_id)
    marked = _place_flag(
        runtime, target, caller, Flag(body.reason, body.note or "", weight, owes, is_heard)
    )
    if marked.counter.get("hold_at") is not None:
        tend(runtime, node, comment_id, marked.counter)
    # No message for a flag that moderators do not see: for a comment without reported facts,
    # webhooks could take the message for an event.
    if is_heard:
        happened.notify(runtime, node, comment_id)


def withdraw(runtime: Runtime, node_id: str, comment_id: str, caller: Principal) -> None:
    """Withdraw the caller's flag; without one, nothing changes.

    Raises UnknownNode, NodeMoved and UnknownComment.
    """
    _place_flag(runtime, find(runtime, node_id, comment_id, caller), caller, NO_FLAG)


def _place_flag(runtime: Runtime, target: MarkTarget, caller: Principal, change: Change) -> Marked:
    thing = Thing(KIND, thing_id(target.entry), target.entry)
    return place(runtime, thing, caller.id, change)


def list_flags(
    runtime: Runtime, node_id: str, comment_id: str, moderator: Principal, query: FlagsQuery
) -> FlagsAnswer:
    """Return a page of a comment's flags, even if readers do not see the comment.

    Raises UnknownNode, NodeMoved, Forbidden, UnknownComment and InvalidCursor.
    """
    node = nodes.find(runtime.database, node_id)
    check_moderator(moderator, node["site"])
    key = key_of(node, comment_id)
    entry = ENTRIES.of(runtime.database).find_one(key, {"site": 1, "flags": 1})
    if entry is None:
        raise UnknownComment
    cursors = Cursors(f"flags:{key['_id']}", runtime.settings.signing_keys)
    after = cursors.position(query)
    thing = (KIND, thing_id(entry))
    since = after[0] if after else ""
    marks = reading.list_flags(runtime.database, thing, since, query.limit + 1)
    shown, last = page_of(marks, query.limit)
    return {
        "weight": entry.get("flags", 0) / 100,
        "flags": [_answer(each) for each in shown],
        "next": cursors.following([last["user_id"]] if last else None),
    }


def _answer(mark: Any) -> FlagAnswer:
    flag = mark["flag"]
    return {
        "by": mark["user_id"],
        "reason": flag["reason"],
        "note": flag["note"],
        "flagged_at": flag["at"],
        "weight": flag["weight"] / 100,
        "outcome": flag.get("outcome"),
    }
