"""Flagging a comment, and taking it back."""

from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.errors import NodeLocked
from chalicelib.comments.flags import holding
from chalicelib.comments.flags.models import CommentFlag
from chalicelib.comments.people import changing
from chalicelib.comments.people.standing import flag_weight
from chalicelib.comments.voting.errors import OwnComment
from chalicelib.comments.voting.placing import Target, find
from chalicelib.identity import Principal
from chalicelib.marks.placing import NO_FLAG, Change, Flag, Marked, place
from chalicelib.marks.things import Thing
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import moderates


def flag(
    runtime: Runtime, node_id: str, comment_id: str, caller: Principal, body: CommentFlag
) -> None:
    """Store the caller's flag on a comment, and hold that back if its flags weigh enough.

    The same again changes nothing. Raises UnknownNode, UnknownComment, NodeLocked and OwnComment.
    """
    target = find(runtime, node_id, comment_id, caller)
    if target.entry["author_id"] == caller.id:
        raise OwnComment
    held_from = 100 * target.rights.settings["flags_hold"]
    weight = weight_of(runtime, target.node["site"], caller)
    marked = _place(runtime, target, caller, Flag(body.reason, body.note or "", weight, held_from))
    if marked.counter.get("hold_at") is not None:
        holding.hold(runtime, target.node, comment_id)


def withdraw(runtime: Runtime, node_id: str, comment_id: str, caller: Principal) -> None:
    """Withdraw the caller's flag; without one, nothing changes.

    Raises UnknownNode, UnknownComment and NodeLocked.
    """
    _place(runtime, find(runtime, node_id, comment_id, caller), caller, NO_FLAG)


def weight_of(runtime: Runtime, site: str, caller: Principal) -> int:
    """Return what the caller's flags weigh at a site now, in hundredths."""
    person = changing.find(runtime.database, site, caller.id)
    return flag_weight(person, runtime.now(), is_staff=moderates(caller, site))


def _place(runtime: Runtime, target: Target, caller: Principal, change: Change) -> Marked:
    if target.node["locked"]:
        raise NodeLocked
    thing = Thing(KIND, thing_id(target.entry), target.entry)
    return place(runtime, thing, caller.id, change)
