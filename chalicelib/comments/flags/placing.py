"""Flagging a comment, and taking it back."""

from chalicelib.comments.entries import reported
from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.errors import NodeLocked
from chalicelib.comments.flags import holding
from chalicelib.comments.flags.models import CommentFlag
from chalicelib.comments.people import changing
from chalicelib.comments.people.standing import flag_weight, flags_are_heard
from chalicelib.comments.voting.errors import OwnComment
from chalicelib.comments.voting.placing import Target, find
from chalicelib.identity import Principal
from chalicelib.marks.placing import NO_FLAG, Change, Flag, Marked, place
from chalicelib.marks.shapes import Thing
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import moderates


def flag(
    runtime: Runtime, node_id: str, comment_id: str, caller: Principal, body: CommentFlag
) -> None:
    """Store the caller's flag on a comment, and queue that or hold it back.

    The same again changes nothing, nor does a flag after a decision on the one before, until the
    text is another. Raises UnknownNode, UnknownComment, NodeLocked and OwnComment.
    """
    target = find(runtime, node_id, comment_id, caller)
    if target.entry["author_id"] == caller.id:
        raise OwnComment
    node, site = target.node, target.node["site"]
    person, is_staff = changing.find(runtime.database, site, caller.id), moderates(caller, site)
    weight = flag_weight(person, runtime.now(), is_staff=is_staff)
    is_heard = is_staff or flags_are_heard(person, runtime.now())
    owes = reported.owes(holding.held_from(runtime, node))
    marked = _place(
        runtime, target, caller, Flag(body.reason, body.note or "", weight, owes, is_heard)
    )
    if marked.counter.get("hold_at") is not None:
        holding.tend(runtime, node, comment_id, marked.counter)


def withdraw(runtime: Runtime, node_id: str, comment_id: str, caller: Principal) -> None:
    """Withdraw the caller's flag; without one, nothing changes.

    Raises UnknownNode, UnknownComment and NodeLocked.
    """
    _place(runtime, find(runtime, node_id, comment_id, caller), caller, NO_FLAG)


def _place(runtime: Runtime, target: Target, caller: Principal, change: Change) -> Marked:
    if target.node["locked"]:
        raise NodeLocked
    thing = Thing(KIND, thing_id(target.entry), target.entry)
    return place(runtime, thing, caller.id, change)
