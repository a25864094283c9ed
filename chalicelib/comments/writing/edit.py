"""Edits and deletions of comments by their authors and by moderators."""

import contextlib
from collections.abc import Iterator

from chalicelib.comments import nodes
from chalicelib.comments.errors import CommentChanged, UnknownNode
from chalicelib.comments.forms import CommentEdit
from chalicelib.comments.judgement import JudgedText, fields_of_edit, judge
from chalicelib.comments.log import acts
from chalicelib.comments.log.acts import ActChange, Actor
from chalicelib.comments.log.rows import Action
from chalicelib.comments.mentions import Mention, Mentions
from chalicelib.comments.moderation import flags
from chalicelib.comments.people import members
from chalicelib.comments.permissions import EDIT_WINDOW, is_author, viewer
from chalicelib.comments.rendered import RENDERER, render_text
from chalicelib.comments.shapes import Comment, CommentFields, Node, PlacedComment
from chalicelib.comments.spam_check import origins
from chalicelib.comments.store import WIPED, state_for_author
from chalicelib.comments.stores import ask
from chalicelib.comments.writing import changes, conflicts, door
from chalicelib.comments.writing.draft import writer_of
from chalicelib.errors import EditWindowOver, Forbidden, UnknownComment
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import moderates


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
            return changes.apply(runtime, node, comment, {**fields, **act}, where)
    judged = _judge_edit(runtime, node, comment, JudgedText(text, html), caller)
    if "state" in judged:
        # Otherwise the verdict would make a comment pending that a moderator has just hidden.
        where = {**where, "state": comment["state"]}
    changed = changes.apply(runtime, node, comment, {**fields, **judged}, where)
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
        changes.apply(runtime, node, comment, {**WIPED, **act})
        if not is_author(caller, comment):
            flags.decide(runtime, node, comment, "right")


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
    if not own and not nodes.is_visible(node, caller, runtime.now()):
        raise UnknownNode
    sees = comment is not None and viewer(caller, node["site"]).sees(comment)
    if comment is None or not (sees or (own and even_hidden)):
        raise UnknownComment
    changes.check_living(comment)
    if not own and not moderates(caller, node["site"]):
        raise Forbidden("You did not write this comment")
    return node, comment
