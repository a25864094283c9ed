"""Decisions on comments: by moderators, by flags, and by checks that conclude."""

import contextlib
from typing import Literal

from chalicelib.comments import nodes
from chalicelib.comments.discussion.reading import find
from chalicelib.comments.entries.reported import is_over
from chalicelib.comments.entries.rows import ENTRIES, key_of
from chalicelib.comments.errors import CommentChanged
from chalicelib.comments.forms import StateChange
from chalicelib.comments.log import acts
from chalicelib.comments.log.acts import ActChange, Actor
from chalicelib.comments.moderation import flags
from chalicelib.comments.shapes import Comment, CommentFields, Node, PlacedComment, State
from chalicelib.comments.sites import settings
from chalicelib.comments.spam_check import origins
from chalicelib.comments.store import is_shadow, matches
from chalicelib.comments.stores import ask
from chalicelib.comments.writing import changes, conflicts, filing
from chalicelib.database import Document
from chalicelib.marks.shapes import Outcome
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import check_moderator

# The fields of a comment that a moderator's decision sets.
_DECIDED: tuple[Literal["state", "reasons", "shadow"], ...] = ("state", "reasons", "shadow")
_ATTEMPTS = 3


def set_state(
    runtime: Runtime, node_id: str, comment_id: str, wanted: StateChange, actor: Actor
) -> PlacedComment:
    """Show or hide a comment, hold it back or file it as spam, as a moderator of its site.

    Raises UnknownNode, Forbidden, UnknownComment, CommentDeleted, and CommentChanged after a
    change that the moderator has not seen.
    """
    node = nodes.find(runtime.database, node_id)
    check_moderator(actor.who, node["site"])
    for _ in range(_ATTEMPTS):
        found = changes.check_living(find(runtime, node, comment_id, actor.who))
        if not matches(found, wanted.as_read):
            break
        fields = filing.fields_of_decision(found, wanted.state, runtime.now())
        with contextlib.suppress(CommentChanged):
            return PlacedComment(node, decide(runtime, node, found, fields, actor))
    raise conflicts.changed(runtime, node, comment_id, actor.who)


def decide(
    runtime: Runtime, node: Node, found: Comment, fields: CommentFields, actor: Actor
) -> Comment:
    """Apply a moderator's decision to a comment as it was found, and log the act.

    Unless it is `pending`, the decision also settles the comment's flags as right or wrong. Raises
    CommentChanged, also for a comment deleted meanwhile.
    """
    thing = acts.comment_thing(node, found)
    # The condition makes the log true: the act changes exactly the state that it names.
    where: CommentFields = {"state": found["state"], "edited": found["edited"]}
    before: Document = {name: found[name] for name in _DECIDED if name in found}
    with acts.noting(runtime, actor, "state", thing, ActChange(before, fields)) as act:
        is_reported = origins.note_decision(runtime, node, found["id"], fields["state"])
        changed = changes.apply(runtime, node, found, {**fields, "act": act.id}, where)
        settle_flags(runtime, node, found, changed["state"])
    if is_reported:
        origins.send(runtime, node, found["id"])
    return changed


def settle_flags(runtime: Runtime, node: Node, found: Comment, decided: State) -> None:
    """Settle the flags of a comment by the state that a moderator gave it; idempotent."""
    if decided == "pending":
        return
    outcome: Outcome = "wrong" if decided == "visible" else "right"
    if flags.decide(runtime, node, found, outcome) and outcome == "wrong":
        # One of these flags may have held the comment back a moment ago.
        show_again(runtime, node, found["id"])


def conclude(runtime: Runtime, node: Node, found: Comment, fields: CommentFields) -> bool:
    """Apply the conclusion of a check, a confirmation or a count of flags to a comment.

    Returns False if the comment has changed since.
    """
    where: CommentFields = {"state": found["state"], "edited": found["edited"]}
    if found.get("reasons"):
        # Another conclusion may have removed its own reason meanwhile.
        where["reasons"] = found["reasons"]
    if is_shadow(found):
        # A moderator's decision ends the shadow, perhaps in the same state.
        where["shadow"] = found.get("shadow")
    try:
        changes.apply(runtime, node, found, fields, where)
    except CommentChanged:
        return False
    return True


def hold_back(runtime: Runtime, node: Node, found: Comment) -> bool:
    """Make a flagged visible comment wait for a moderator.

    Returns False if the comment has changed since it was found.
    """
    return conclude(runtime, node, found, {"state": "pending", "reasons": ["flagged"]})


def show_again(runtime: Runtime, node: Node, comment_id: str) -> bool:
    """Show a comment again that flags held back while a moderator found the flags wrong.

    The call that holds it back and the call that decides both end with this, so that the later
    call sees the writes of both. Returns False if the comment stays as it is.
    """
    entry = ENTRIES.of(runtime.database).find_one(key_of(node, comment_id))
    most = 100 * settings.in_force(runtime, node)["flags_hold"]
    if entry is None or is_over(entry, most):
        return False
    found = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    if found is None or found["state"] != "pending" or found.get("reasons") != ["flagged"]:
        return False
    return conclude(runtime, node, found, {"state": "visible", "reasons": []})
