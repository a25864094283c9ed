"""Posts to a discussion, which no move of its node loses.

A post has four steps: take a number from the node, make the comment's entry, store the comment
under the node's generation, and confirm it by a count if the node still has that generation. A
move (`chalicelib.comments.stores.promotion`) makes the confirmation miss. The post then repeats
with the same id and number; if it finds its comment there, the move has copied and counted it.
"""

from typing import NamedTuple

from chalicelib import happenings, limits
from chalicelib.comments import happened, nodes, opening
from chalicelib.comments.discussion import composing, pace, releasing
from chalicelib.comments.discussion.composing import CommentDraft
from chalicelib.comments.discussion.turns import make_room, turns, waits
from chalicelib.comments.entries import writing as entries
from chalicelib.comments.errors import NotThreaded, UnknownNode
from chalicelib.comments.forms import NewComment, Preview
from chalicelib.comments.lifecycle import vacancies
from chalicelib.comments.mentions import Mentions
from chalicelib.comments.moderation import queue
from chalicelib.comments.node_ids import site_of
from chalicelib.comments.people import admission, members
from chalicelib.comments.permissions import viewer
from chalicelib.comments.rendered import render_text
from chalicelib.comments.shapes import Comment, Node, PlacedComment
from chalicelib.comments.sites import settings
from chalicelib.comments.spam_check import origins
from chalicelib.comments.spam_check.origins import Sender
from chalicelib.comments.store import GONE, Added, Full, Moved, counts_change
from chalicelib.comments.stores import ask, store_of
from chalicelib.comments.terms import writing as terms
from chalicelib.errors import Unavailable, UnknownComment
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE
from chalicelib.sites.permissions import moderated_sites, moderates


def post_comment(
    runtime: Runtime,
    node_id: str,
    new: NewComment,
    author: Principal,
    sender: Sender | None = None,
) -> PlacedComment:
    """Post a comment and return it with its node.

    Raises UnknownNode, NodeLocked, NodeClosed, UnknownComment for the parent, NotThreaded,
    CommentTooLarge, TextRefused, Duplicate, Suspended, Banned, TooFast, and Unavailable if a move
    of the node outlasts the budget of time.
    """
    placed = _post(runtime, node_id, new, author, sender)
    thing = happened.name_of(placed.node["_id"], placed.comment["id"])
    happenings.send(runtime, placed.node["site"], happened.KIND, thing)
    terms.settle(runtime, placed.node, placed.comment)
    happened.notify(runtime, placed.node, placed.comment["id"])
    if "checking" in placed.comment.get("reasons", []):
        origins.send(runtime, placed.node, placed.comment["id"])
    return releasing.look_again(runtime, placed)


def _post(
    runtime: Runtime, node_id: str, new: NewComment, author: Principal, sender: Sender | None
) -> PlacedComment:
    """Post a comment; raises as `post_comment`."""
    site = site_of(node_id)
    pace.check(runtime, node_id, author)
    admitted = admission.admit(runtime, site, author) if site else None
    node = _take_seq(runtime, node_id, new, author)
    if admitted is None:
        # Their first post at the site.
        admitted = admission.admit_first(runtime, node["site"], author)
    parent = _parent(runtime, node, new.parent, author)
    written = composing.draft(runtime, node, new, author, admitted)._replace(sender=sender)
    _keep_pace(runtime, node, written)
    return _store(runtime, node, parent, written)


def _store(
    runtime: Runtime, node: Node, parent: Comment | None, written: CommentDraft
) -> PlacedComment:
    """Store a comment that has its number, and confirm it; raises UnknownNode and Unavailable."""
    comment = _compose(runtime, node, parent, written)
    stored_under: set[tuple[str, int]] = set()
    try:
        for turn in turns(runtime, node):
            current = turn
            if current.get("numbering") != node.get("numbering"):
                again = _renumber(runtime, current, comment, written)
                if again is None:
                    continue
                current, parent, comment, is_copied = again
                if is_copied:
                    return PlacedComment(current, comment)
                node = current
            elif current["_id"] != node["_id"]:
                queue.settle(runtime.database, current, comment)
                entries.settle(runtime.database, current, comment)
            added = _add(runtime, current, comment)
            if added is Added.COLLISION:
                _give_back(runtime, current, comment["id"])
                written = written.with_another_id(runtime)
                comment = _compose(runtime, node, parent, written)
            if added is None or added is Added.COLLISION:
                continue
            if _is_confirmed(runtime, current, comment, added, stored_under):
                return PlacedComment(current, comment)
    except UnknownNode:
        queue.remove(runtime.database, node, comment["id"])
        entries.remove(runtime.database, node, comment)
        raise
    raise Unavailable("The discussion is being moved")


def _is_confirmed(
    runtime: Runtime,
    node: Node,
    comment: Comment,
    added: Added,
    stored_under: set[tuple[str, int]],
) -> bool:
    """Return whether the node counts a stored comment, or the move that copied it did."""
    generation = (node["_id"], node["generation"])
    copied = added is Added.DUPLICATE and generation not in stored_under
    if copied or added is Added.COUNTED:
        return True
    stored_under.add(generation)
    change, raised = counts_change(None, comment["state"]), nodes.version_change(comment)
    return nodes.count(runtime.database, node, change, raised)


class _Renumbered(NamedTuple):
    """A comment among the new numbers of its node; `is_copied`: the import has taken it along."""

    node: Node
    parent: Comment | None
    comment: Comment
    is_copied: bool


def _renumber(
    runtime: Runtime, current: Node, comment: Comment, written: CommentDraft
) -> _Renumbered | None:
    """Place a comment anew after an import numbered its node's comments; None: a move holds it."""
    there = ask(runtime, current, lambda store, now: store.get(now, comment["id"]))
    if there is not None:
        return _Renumbered(current, None, there, is_copied=True)
    author, parent_id = written.author, written.new.parent
    now = runtime.now()
    node = nodes.take_seq(runtime.database, current["_id"], now, moderated_sites(author))
    if node is None:
        return None
    parent = None
    if parent_id is not None:
        parent = ask(runtime, node, lambda store, read: store.get(read, parent_id))
    again = written._replace(comment_id=comment["id"])
    placed = composing.place(runtime, node, parent, again)
    queue.settle(runtime.database, node, placed)
    entries.settle(runtime.database, node, placed)
    return _Renumbered(node, parent, placed, is_copied=False)


def preview(runtime: Runtime, new: Preview, author: Principal) -> str:
    """Return the HTML that a comment would have on a node; raises CommentTooLarge."""
    node = nodes.look(runtime.database, new.node) if new.node else None
    if node and not nodes.is_visible(node, author, runtime.now()):
        node = None
    if node is None:
        site = site_of(new.node) if new.node else None
        return render_text(runtime, site or DEFAULT_SITE, new.text)
    people = Mentions(members.among(runtime, node, new.mentions, author))
    return render_text(runtime, node["site"], new.text, people)


def _add(runtime: Runtime, node: Node, comment: Comment) -> Added | None:
    """Store a comment, or make room for it; None: try again."""
    try:
        return store_of(runtime, node).add(node, comment)
    except Moved:
        return None
    except Full:
        make_room(runtime, node)
        return None


def _take_seq(runtime: Runtime, node_id: str, new: NewComment, author: Principal) -> Node:
    """Number the comment after the end of a running move; raises as `_explain`."""
    for _ in waits(runtime.settings.post_budget_ms):
        now, moderated = runtime.now(), moderated_sites(author)
        node = nodes.take_seq(runtime.database, node_id, now, moderated)
        if node is not None:
            return node
        _explain(runtime, node_id, new, author)
    raise Unavailable("The discussion is being moved")


def _explain(runtime: Runtime, node_id: str, new: NewComment, author: Principal) -> None:
    """Open a missing node or end an expired move; raises UnknownNode, NodeLocked, NodeClosed."""
    try:
        node = nodes.find(runtime.database, node_id)
    except UnknownNode:
        _open(runtime, node_id, new, author)
        return
    now, is_moderator = runtime.now(), moderates(author, node["site"])
    if not is_moderator and not opening.is_public(node, now):
        raise UnknownNode
    opening.check_open(node, now, moderates=is_moderator)
    nodes.find_settled(runtime.database, node_id, runtime.now())


def _open(runtime: Runtime, node_id: str, new: NewComment, author: Principal) -> None:
    """Make the node of a first comment, if its site is open and the post is sound.

    Raises UnknownNode, UnknownComment for a parent, CommentTooLarge, TextRefused, and TooFast
    for an author of many new nodes.
    """
    site = site_of(node_id)
    if site is None or site not in runtime.settings.open_nodes:
        raise UnknownNode
    if new.parent is not None:
        raise UnknownComment
    # The node has no posts yet: the site knows the author from its other nodes, if at all.
    known = admission.standing_of(runtime, site, author)
    composing.check(runtime, site, CommentDraft(new, author, known), settings.of(runtime, site))
    limits.take(runtime, limits.OPENED, author, None)
    node = nodes.new_node(node_id, site)
    node["closes_at"] = settings.closing_at(runtime, site)
    vacancies.insert(runtime, node)


def _keep_pace(runtime: Runtime, node: Node, written: CommentDraft) -> None:
    """Count a comment in slow mode, after a check that nothing else refuses it.

    Raises TooFast, CommentTooLarge and TextRefused.
    """
    seconds = pace.seconds_for(runtime, node, written.author)
    if seconds:
        composing.check(runtime, node["site"], written, settings.in_force(runtime, node))
        pace.count(runtime, node, written.author, seconds)


def _parent(
    runtime: Runtime, node: Node, parent_id: str | None, author: Principal
) -> Comment | None:
    """Return the parent of a reply; raises NotThreaded and UnknownComment."""
    if parent_id is None:
        return None
    if not node["threaded"]:
        raise NotThreaded
    parent = ask(runtime, node, lambda store, current: store.get(current, parent_id))
    if parent is None or parent["state"] in GONE or not viewer(author, node["site"]).sees(parent):
        raise UnknownComment
    return parent


def _compose(
    runtime: Runtime, node: Node, parent: Comment | None, written: CommentDraft
) -> Comment:
    """Return a comment in its place under a new id, after its entry and happening are noted."""
    comment = composing.place(runtime, node, parent, written)
    while not _enter(runtime, node, comment):
        written = written.with_another_id(runtime)
        comment = composing.place(runtime, node, parent, written)
    if comment["state"] == "pending":
        # Before the comment itself: a crash in between leaves a row too many, never one too few.
        queue.settle(runtime.database, node, comment)
    if "checking" in comment.get("reasons", []) and written.sender is not None:
        origins.note(runtime, node, comment, written.sender)
    thing = happened.name_of(node["_id"], comment["id"])
    happenings.note(runtime, node["site"], happened.KIND, thing)
    return comment


def _enter(runtime: Runtime, node: Node, comment: Comment) -> bool:
    """Make the comment's entry before the comment; return False for a duplicate id.

    An entry without a comment is left from an attempt that ended early.
    """
    if entries.add(runtime.database, node, comment, runtime.now()):
        return True
    if ask(runtime, node, lambda store, current: store.get(current, comment["id"])):
        return False
    entries.settle(runtime.database, node, comment)
    return True


def _give_back(runtime: Runtime, node: Node, comment_id: str) -> None:
    """Give the entry of an id back to the older comment with the id, which had no entry."""
    other = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    if other is not None:
        entries.settle(runtime.database, node, other)
