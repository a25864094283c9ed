"""Changes of comments by authors and moderators; a move of the node loses no change."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Literal

from chalicelib import happenings
from chalicelib.comments import happened, nodes
from chalicelib.comments.discussion import pinned
from chalicelib.comments.discussion.reading import find
from chalicelib.comments.entries import writing as entries
from chalicelib.comments.entries.reported import is_over
from chalicelib.comments.entries.rows import ENTRIES, key_of
from chalicelib.comments.errors import CommentChanged, CommentDeleted
from chalicelib.comments.forms import CommentEdit, StateChange
from chalicelib.comments.judgement import JudgedText, fields_of_edit, judge
from chalicelib.comments.log import acts
from chalicelib.comments.log.acts import ActChange, Actor
from chalicelib.comments.log.rows import Action
from chalicelib.comments.mentions import Mention, Mentions
from chalicelib.comments.moderation import flags, queue
from chalicelib.comments.people import members
from chalicelib.comments.people.counting import recounting
from chalicelib.comments.permissions import EDIT_WINDOW, is_author, viewer
from chalicelib.comments.rendered import RENDERER, render_text
from chalicelib.comments.shapes import Comment, CommentFields, Node, PlacedComment, State
from chalicelib.comments.sites import settings
from chalicelib.comments.spam_check import origins
from chalicelib.comments.store import (
    GONE,
    WIPED,
    Full,
    Moved,
    counts_change,
    is_shadow,
    matches,
    state_for_author,
)
from chalicelib.comments.stores import ask, store_of, turns
from chalicelib.comments.stores.promotion import make_room
from chalicelib.comments.terms import writing as terms
from chalicelib.comments.writing import conflicts, door, filing
from chalicelib.comments.writing.draft import writer_of
from chalicelib.database import Document
from chalicelib.errors import EditWindowOver, Forbidden, Unavailable, UnknownComment
from chalicelib.identity import Principal
from chalicelib.marks.shapes import Outcome
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import check_moderator, moderates

# The fields of a comment that a moderator's decision sets.
DECIDED: tuple[Literal["state", "reasons", "shadow"], ...] = ("state", "reasons", "shadow")
_ATTEMPTS = 3


def edit_comment(
    runtime: Runtime, node_id: str, comment_id: str, edit: CommentEdit, caller: Principal
) -> PlacedComment:
    """Replace the text of a comment: its author for 15 minutes, a moderator at any time.

    Without `mentions`, former mentions stay if their names are still in the text.

    Raises UnknownNode, UnknownComment, CommentDeleted, Forbidden, EditWindowOver,
    CommentTooLarge, TextRefused, Duplicate, Suspended, Banned, and CommentChanged if it is not as
    it was shown, or if a moderator changes its state meanwhile.
    """
    node, comment = _find_own(runtime, node_id, comment_id, caller)
    try:
        return PlacedComment(node, _edit(runtime, node, comment, edit, caller))
    except CommentChanged:
        raise conflicts.changed(runtime, node, comment_id, caller) from None


def _edit(
    runtime: Runtime, node: Node, comment: Comment, edit: CommentEdit, caller: Principal
) -> Comment:
    """Replace the text of a comment; raises as `edit_comment`."""
    late = runtime.now() - comment["posted"] > EDIT_WINDOW
    if late and not moderates(caller, node["site"]):
        raise EditWindowOver
    text, mentions = edit.text, Mentions(_people(runtime, node, comment, edit, caller))
    html = render_text(runtime, node["site"], text, mentions)
    where = conflicts.as_shown(node, comment, edit.as_shown, caller)
    fields: CommentFields = {
        "text": text,
        "html": html,
        "renderer": RENDERER,
        "edited": runtime.now(),
    }
    if mentions.people or comment.get("mentions"):
        fields["mentions"] = mentions.people
    if moderates(caller, node["site"]):
        with _note_act(runtime, "edit", node, comment, caller) as act:
            return _change(runtime, node, comment, {**fields, **act}, where)
    judged = _judge_edit(runtime, node, comment, JudgedText(text, html), caller)
    if "state" in judged:
        # Otherwise the verdict would make a comment pending that a moderator has just hidden.
        where = {**where, "state": comment["state"]}
    changed = _change(runtime, node, comment, {**fields, **judged}, where)
    if "checking" in judged.get("reasons", []):
        # A worker may have finished the task before this write, by the old text.
        origins.check_again(runtime, node, comment["id"])
        origins.send(runtime, node, comment["id"])
    return changed


def _people(
    runtime: Runtime, node: Node, comment: Comment, edit: CommentEdit, caller: Principal
) -> list[Mention]:
    """Return the people whom an edited text may mention: former mentions, or members."""
    before = comment.get("mentions", [])
    if edit.mentions is None:
        return before
    kept = [each for each in before if each["id"] in edit.mentions]
    known = {each["id"] for each in kept}
    new = [each for each in edit.mentions if each not in known]
    return kept + members.among(runtime, node, new, caller)


@contextlib.contextmanager
def _note_act(
    runtime: Runtime, action: Action, node: Node, comment: Comment, caller: Principal
) -> Iterator[CommentFields]:
    """Note a moderator's act on another author's comment; yield the fields that name the act."""
    if is_author(caller, comment):
        yield {}
        return
    change = ActChange({}, {})
    if action == "delete":
        change = ActChange({"state": comment["state"]}, {"state": "deleted"})
    thing = acts.comment_thing(node, comment)
    with acts.noting(runtime, Actor(caller), action, thing, change) as act:
        yield {"act": act.id}


def _judge_edit(
    runtime: Runtime, node: Node, comment: Comment, written: JudgedText, author: Principal
) -> CommentFields:
    """Judge an author's edit; return the fields that it changes beside the text.

    Without a verdict, an approved comment could become anything. Raises TextRefused, Duplicate,
    Suspended and Banned.
    """
    standing = door.standing_in(runtime, node, author)
    others = door.note_text(runtime, node, comment["id"], written.text, standing)
    # No service checks a comment that stays in its state whatever the new text is.
    is_open = comment["state"] != "spam" and state_for_author(comment) in {"visible", "pending"}
    is_checked = is_open and origins.check_again(runtime, node, comment["id"])
    written = written._replace(others=others, is_checked=is_checked)
    verdict = judge(written, writer_of(standing), standing.rules)
    now, is_shadowed = runtime.now(), standing.admitted.is_shadowed
    return fields_of_edit(comment, verdict, now, is_shadowed=is_shadowed)


def delete_comment(runtime: Runtime, node_id: str, comment_id: str, caller: Principal) -> None:
    """Delete a comment, for its author or a moderator; with replies it leaves a tombstone.

    Its author may delete it while it is hidden, too. Raises UnknownNode, UnknownComment,
    CommentDeleted and Forbidden.
    """
    node, comment = _find_own(runtime, node_id, comment_id, caller, even_hidden=True)
    with _note_act(runtime, "delete", node, comment, caller) as act:
        _change(runtime, node, comment, {**WIPED, **act})
        if not is_author(caller, comment):
            flags.decide(runtime, node, comment, "right")


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
        found = _check_living(find(runtime, node, comment_id, actor.who))
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
    before: Document = {name: found[name] for name in DECIDED if name in found}
    with acts.noting(runtime, actor, "state", thing, ActChange(before, fields)) as act:
        is_reported = origins.note_decision(runtime, node, found["id"], fields["state"])
        changed = _change(runtime, node, found, {**fields, "act": act.id}, where)
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
        _change(runtime, node, found, fields, where)
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


def _find_own(
    runtime: Runtime,
    node_id: str,
    comment_id: str,
    caller: Principal,
    *,
    even_hidden: bool = False,
) -> tuple[Node, Comment]:
    """Return a comment and its node, if the caller wrote the comment or moderates its site.

    `even_hidden`: authors also find their hidden comment, and a comment on a page that is not
    public. Raises UnknownNode, UnknownComment, CommentDeleted and Forbidden.
    """
    # Authors may delete their comment while its page is not public, too.
    if even_hidden:
        node = nodes.find(runtime.database, node_id)
    else:
        node = nodes.find_for(runtime, node_id, caller)
    comment = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    own = comment is not None and is_author(caller, comment)
    sees = comment is not None and viewer(caller, node["site"]).sees(comment)
    if comment is None or not (sees or (own and even_hidden)):
        raise UnknownComment
    _check_living(comment)
    if not own and not moderates(caller, node["site"]):
        raise Forbidden("You did not write this comment")
    return node, comment


def _check_living(comment: Comment) -> Comment:
    if comment["state"] in GONE:
        raise CommentDeleted
    return comment


def _change(
    runtime: Runtime,
    node: Node,
    comment: Comment,
    fields: CommentFields,
    where: CommentFields | None = None,
) -> Comment:
    """Change a comment and return it.

    Raises CommentChanged if it lacks the values of `where` or is gone; without `where`,
    UnknownComment if it is gone.
    """
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
        # Another call has deleted it since it was found.
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

    Returns None for a comment that is unknown, deleted, or lacks these values. Raises Unavailable
    if a move of the node outlasts the budget of time.
    """
    nodes.touch(runtime, node["_id"])
    # Changes that each generation's counts still lack, since a move prevented the confirmation.
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
                return _settle(runtime, current, changed)
            raised = nodes.version_change(result.before, result.after)
            delta = counts_change(result.before["state"], result.after["state"])
            owed.setdefault(generation, Counter()).update(delta)
        if generation not in owed or _confirm(runtime, current, owed[generation], raised):
            return _settle(runtime, current, changed)
    raise Unavailable("The discussion is being moved")


def _confirm(
    runtime: Runtime, node: Node, owed: Mapping[str, int], raised: Mapping[str, int]
) -> bool:
    return nodes.count(runtime.database, node, dict(owed), raised)


def _settle(runtime: Runtime, node: Node, changed: Comment | None) -> Comment | None:
    if changed is not None:
        queue.settle(runtime.database, node, changed)
        if changed["state"] in GONE:
            pinned.take_down(runtime.database, node["_id"], [changed["id"]])
        entries.settle(runtime.database, node, changed, entries.owed_since(runtime, node))
        terms.settle(runtime, node, changed)
        happened.notify(runtime, node, changed["id"])
    return changed
