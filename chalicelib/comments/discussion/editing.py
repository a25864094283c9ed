"""Editing, deleting and moderating a comment so that no move of its node loses the change."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal

from chalicelib import happenings
from chalicelib.comments import happened, nodes
from chalicelib.comments.discussion import filing, pinned
from chalicelib.comments.discussion.composing import others_of, people_of, writer_of
from chalicelib.comments.discussion.reading import find
from chalicelib.comments.discussion.turns import make_room, turns
from chalicelib.comments.entries import writing as entries
from chalicelib.comments.entries.reported import is_over
from chalicelib.comments.entries.rows import ENTRIES, key_of
from chalicelib.comments.errors import CommentChanged, CommentDeleted
from chalicelib.comments.forms import CommentEdit, StateChange
from chalicelib.comments.judgement import JudgedText, judge
from chalicelib.comments.log import acts
from chalicelib.comments.log.acts import ActChange, Actor
from chalicelib.comments.log.rows import Action
from chalicelib.comments.mentions import Mentions
from chalicelib.comments.moderation import flags, queue
from chalicelib.comments.people.admission import standing_of
from chalicelib.comments.people.counting import recounting
from chalicelib.comments.permissions import EDIT_WINDOW, is_author, viewer
from chalicelib.comments.rendered import RENDERER, rendered
from chalicelib.comments.shapes import Comment, CommentFields, Node, Placed
from chalicelib.comments.sites import settings
from chalicelib.comments.spam_check import origins
from chalicelib.comments.store import GONE, WIPED, Full, Moved, counts_change, matches
from chalicelib.comments.stores import ask, store_of
from chalicelib.database import Document
from chalicelib.errors import EditWindowOver, Forbidden, Unavailable, UnknownComment
from chalicelib.identity import Principal
from chalicelib.marks.shapes import Outcome
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import moderates

# The fields of a comment that a moderator's decision sets.
DECIDED: tuple[Literal["state", "reasons", "shadow"], ...] = ("state", "reasons", "shadow")
_ATTEMPTS = 3


def edit_comment(
    runtime: Runtime, node_id: str, comment_id: str, edit: CommentEdit, caller: Principal
) -> Placed:
    """Give a comment a new text; its author may do so for 15 minutes, a moderator at any time.

    Where it does not say whom it mentions, it goes on mentioning those whose names are still in it.

    Raises UnknownNode, UnknownComment, CommentDeleted, Forbidden, EditWindowOver,
    CommentTooLarge, TextRefused, Duplicate, Suspended, Banned, and CommentChanged if a moderator
    has changed its state meanwhile.
    """
    node, comment = _find_own(runtime, node_id, comment_id, caller)
    late = runtime.now() - comment["posted"] > EDIT_WINDOW
    if late and not moderates(caller, node["site"]):
        raise EditWindowOver
    text, people = edit.text, Mentions(people_of(runtime, node, comment, edit))
    html = rendered(runtime, node["site"], text, people)
    fields: CommentFields = {
        "text": text,
        "html": html,
        "renderer": RENDERER,
        "edited": runtime.now(),
    }
    if people.found or comment.get("mentions"):
        fields["mentions"] = people.found
    if moderates(caller, node["site"]):
        with _noted(runtime, "edit", node, comment, caller) as act:
            changed = _changed(runtime, node, comment, {**fields, **act})
        return Placed(node, changed)
    where: CommentFields = {}
    judged = _judged_again(runtime, node, comment, JudgedText(text, html), caller)
    if "state" in judged:
        # Otherwise one that a moderator has just hidden would be pending again.
        where = {"state": comment["state"]}
    changed = _changed(runtime, node, comment, {**fields, **judged}, where)
    if "checking" in judged.get("reasons", []):
        origins.send(runtime, node, comment_id)
    return Placed(node, viewer(caller, node["site"]).shown(changed))


@contextlib.contextmanager
def _noted(
    runtime: Runtime, action: Action, node: Node, comment: Comment, caller: Principal
) -> Iterator[CommentFields]:
    """Note what a moderator does with another's text, and give the fields that name the act."""
    if is_author(caller, comment):
        yield {}
        return
    change = ActChange({}, {})
    if action == "delete":
        change = ActChange({"state": comment["state"]}, {"state": "deleted"})
    thing = acts.comment_thing(node, comment)
    with acts.noting(runtime, Actor(caller), action, thing, change) as act:
        yield {"act": act.id}


def _judged_again(
    runtime: Runtime, node: Node, comment: Comment, written: JudgedText, author: Principal
) -> CommentFields:
    """Return what an author's edit changes of a comment beside its text.

    An approved comment could become anything afterwards otherwise. Raises TextRefused, Duplicate,
    Suspended and Banned.
    """
    writer = standing_of(runtime, node["site"], author)
    others = others_of(runtime, node, comment["id"], written.text, author)
    site = settings.in_force(runtime, node)
    # What stays where it is, whatever the new text is, is not asked about.
    is_open = comment["state"] in {"visible", "pending"} and not writer.is_shadowed
    is_checked = is_open and origins.check_again(runtime, node, comment["id"])
    written = written._replace(others=others, is_checked=is_checked)
    verdict = judge(written, writer_of(author, writer), site)
    now, is_shadowed = runtime.now(), writer.is_shadowed
    return filing.filed_again(comment, verdict, now, is_shadowed=is_shadowed)


def delete_comment(runtime: Runtime, node_id: str, comment_id: str, caller: Principal) -> None:
    """Delete a comment, for its author or a moderator; one with replies leaves a tombstone.

    Its author may delete it while it is hidden, too. Raises UnknownNode, UnknownComment,
    CommentDeleted and Forbidden.
    """
    node, comment = _find_own(runtime, node_id, comment_id, caller, even_hidden=True)
    with _noted(runtime, "delete", node, comment, caller) as act:
        _changed(runtime, node, comment, {**WIPED, **act})
        if not is_author(caller, comment):
            flags.decide(runtime, node, comment, "right")


def set_state(
    runtime: Runtime, node_id: str, comment_id: str, wanted: StateChange, actor: Actor
) -> Placed:
    """Show or hide a comment, hold it back or file it as spam, as a moderator of its site.

    Raises UnknownNode, Forbidden, UnknownComment, CommentDeleted, and CommentChanged if it
    was edited after the moderator read it.
    """
    node = nodes.find(runtime.database, node_id)
    if not moderates(actor.who, node["site"]):
        raise Forbidden(f"You do not moderate the site {node['site']}")
    for _ in range(_ATTEMPTS):
        found = _living(find(runtime, node, comment_id, actor.who))
        if not matches(found, wanted.seen):
            raise CommentChanged
        fields = filing.decided(found, wanted.state, runtime.now())
        with contextlib.suppress(CommentChanged):
            return Placed(node, decide(runtime, node, found, fields, actor))
    raise CommentChanged


def decide(
    runtime: Runtime, node: Node, found: Comment, fields: CommentFields, actor: Actor
) -> Comment:
    """Give a comment that has the state and the text that were found another state, and note it.

    Those who flagged it were right or wrong. Raises CommentChanged and UnknownComment.
    """
    thing = acts.comment_thing(node, found)
    # With it as it was, the log says truly what the act changed.
    where: CommentFields = {"state": found["state"], "edited": found["edited"]}
    before: Document = {name: found[name] for name in DECIDED if name in found}
    with acts.noting(runtime, actor, "state", thing, ActChange(before, fields)) as act:
        tells = origins.note_decision(runtime, node, found["id"], fields["state"])
        changed = _changed(runtime, node, found, {**fields, "act": act.id}, where)
        if changed["state"] != "pending":
            outcome: Outcome = "wrong" if changed["state"] == "visible" else "right"
            if flags.decide(runtime, node, found, outcome) and outcome == "wrong":
                # One of these flags may have held it back a moment ago.
                show_decided(runtime, node, found["id"])
    if tells:
        origins.send(runtime, node, found["id"])
    return changed


def conclude(runtime: Runtime, node: Node, found: Comment, fields: CommentFields) -> bool:
    """Give a comment what a check or a count of flags has concluded.

    Returns False if it is not as it was found any more.
    """
    where: CommentFields = {"state": found["state"], "edited": found["edited"]}
    try:
        _changed(runtime, node, found, fields, where)
    except CommentChanged:
        return False
    return True


def hold_back(runtime: Runtime, node: Node, found: Comment) -> bool:
    """Let a visible comment wait for a moderator, since people flagged it.

    Returns False if it is not as it was found any more.
    """
    return conclude(runtime, node, found, {"state": "pending", "reasons": ["flagged"]})


def show_decided(runtime: Runtime, node: Node, comment_id: str) -> bool:
    """Show a comment that flags have held back while a moderator decided that they are wrong.

    The one who holds it back and the one who decides call this last, so that one of the two finds
    what both have written. Returns False where the flags that wait now hold it back.
    """
    entry = ENTRIES.of(runtime.database).find_one(key_of(node, comment_id))
    most = 100 * settings.in_force(runtime, node)["flags_hold"]
    if entry is None or is_over(entry, most):
        return False
    found = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    if found is None or found["state"] != "pending" or found.get("reasons") != ["flagged"]:
        return False
    return conclude(runtime, node, found, {"state": "visible", "reasons": []})


def _find_own(
    runtime: Runtime,
    node_id: str,
    comment_id: str,
    caller: Principal,
    *,
    even_hidden: bool = False,
) -> tuple[Node, Comment]:
    """Return a comment that the caller wrote or moderates, with its node."""
    node = nodes.find(runtime.database, node_id)
    comment = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    own = comment is not None and is_author(caller, comment)
    sees = comment is not None and viewer(caller, node["site"]).sees(comment)
    if comment is None or not (sees or (own and even_hidden)):
        raise UnknownComment
    _living(comment)
    if not own and not moderates(caller, node["site"]):
        raise Forbidden("You did not write this comment")
    return node, comment


def _living(comment: Comment) -> Comment:
    if comment["state"] in GONE:
        raise CommentDeleted
    return comment


def _changed(
    runtime: Runtime,
    node: Node,
    comment: Comment,
    fields: CommentFields,
    where: CommentFields | None = None,
) -> Comment:
    thing = happened.name_of(node["_id"], comment["id"])
    author = comment["author"]["id"] if comment["author"] and "state" in fields else None
    with (
        happenings.telling(runtime, node["site"], happened.KIND, thing),
        recounting(runtime, node["site"], author),
    ):
        changed = change_comment(runtime, node, comment["id"], fields, where)
    if changed is None and where:
        raise CommentChanged
    if changed is None:
        # Somebody deleted it since it was found.
        raise UnknownComment
    return changed


def change_comment(
    runtime: Runtime,
    node: Node,
    comment_id: str,
    fields: CommentFields,
    where: CommentFields | None = None,
) -> Comment | None:
    """Set fields of a comment that has the values of `where`; return the changed comment.

    Returns None if it is unknown, deleted, or has other values. Raises Unavailable when a move
    of the node outlasts the budget of time.
    """
    nodes.touch(runtime.database, node["_id"], runtime.now())
    # What each generation's counts still lack: changes that a move kept from being confirmed.
    owed: dict[tuple[str, int], Counter[str]] = {}
    changed: Comment | None = None
    raised: Mapping[str, int] = nodes.RAISED
    for current in turns(runtime, node):
        generation = (current["_id"], current["generation"])
        try:
            result = store_of(runtime, current).change(current, comment_id, fields, where or {})
        except (Moved, Full) as refused:
            if isinstance(refused, Full):
                make_room(runtime, current)
            continue
        if result is not None:
            changed = result.after
            if result.counted:
                return _settled(runtime, current, changed)
            raised = nodes.raised_by(result.before, result.after)
            delta = counts_change(result.before["state"], result.after["state"])
            owed.setdefault(generation, Counter()).update(delta)
        if generation not in owed or _confirm(runtime, current, owed[generation], raised):
            return _settled(runtime, current, changed)
    raise Unavailable("The discussion is being moved")


def _confirm(
    runtime: Runtime, node: Node, owed: Mapping[str, int], raised: Mapping[str, int]
) -> bool:
    return nodes.count(runtime.database, node, dict(owed), raised)


def _settled(runtime: Runtime, node: Node, changed: Comment | None) -> Comment | None:
    if changed is not None:
        queue.settle(runtime.database, node, changed)
        if changed["state"] in GONE:
            pinned.take_down(runtime.database, node["_id"], [changed["id"]])
        entries.settle(runtime.database, node, changed)
    return changed
