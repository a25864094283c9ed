"""Posts to a discussion, which no move of its node loses.

A post has four steps: take a number from the node, make the comment's entry, store the comment
under the node's generation, and confirm it by a count if the node still has that generation. A
move (`chalicelib.comments.stores.promotion`) makes the confirmation miss. The post then repeats
with the same id and number; if it finds its comment there, the move has copied and counted it.
"""

from collections.abc import Callable
from typing import NamedTuple

from chalicelib import happenings, limits
from chalicelib.comments import happened, nodes
from chalicelib.comments.answers import CommentAnswer, comment_answer
from chalicelib.comments.entries import writing as entries
from chalicelib.comments.errors import NotThreaded, UnknownNode
from chalicelib.comments.forms import NewComment, Preview
from chalicelib.comments.judgement import is_quick
from chalicelib.comments.lifecycle import vacancies
from chalicelib.comments.mark_answers import Marks, is_marked
from chalicelib.comments.mentions import Mentions
from chalicelib.comments.moderation import queue
from chalicelib.comments.node_ids import site_of
from chalicelib.comments.people import counting, members
from chalicelib.comments.people.rows import approved_of
from chalicelib.comments.permissions import Rights, viewer
from chalicelib.comments.rendered import render_text
from chalicelib.comments.shapes import Comment, Node, PlacedComment
from chalicelib.comments.sites import settings
from chalicelib.comments.spam_check import origins
from chalicelib.comments.spam_check.origins import Sender
from chalicelib.comments.store import GONE, Added, Full, Moved, counts_change
from chalicelib.comments.stores import ask, store_of, turns
from chalicelib.comments.stores.promotion import make_room
from chalicelib.comments.terms import writing as terms
from chalicelib.comments.writing import door, draft, releasing
from chalicelib.comments.writing.door import AuthorStanding
from chalicelib.comments.writing.draft import CommentDraft
from chalicelib.errors import Unavailable, UnknownComment
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE
from chalicelib.sites.permissions import moderated_sites


class CommentCall(NamedTuple):
    """Facts of the call that posts a comment.

    `sender`: None without a spam check, or for an unknown address. `count_call`: the `count` of
    `door.admit`.
    """

    sender: Sender | None = None
    count_call: Callable[[], None] | None = None


NO_CALL = CommentCall()


class Posted(NamedTuple):
    """A new comment in its node, with the comment that it answers, and its author's standing."""

    node: Node
    comment: Comment
    parent: Comment | None
    standing: AuthorStanding


def post_comment(
    runtime: Runtime,
    node_id: str,
    new: NewComment,
    author: Principal,
    call: CommentCall = NO_CALL,
) -> Posted:
    """Post a comment and return it with its node.

    Raises UnknownNode, NodeLocked, NodeClosed, UnknownComment for the parent, NotThreaded,
    CommentTooLarge, TextRefused, Duplicate, Suspended, Banned, TooFast, and Unavailable if a move
    of the node outlasts the budget of time.
    """
    admitted = door.admit(runtime, node_id, author, call.count_call)
    numbered = door.take_number(
        runtime, node_id, author, lambda: _open(runtime, node_id, new, author)
    )
    if admitted is None:
        # Their first post at the site.
        admitted = door.admit_first(runtime, numbered["site"], author)
    standing = door.standing_in(runtime, numbered, author, admitted)
    parent = _parent(runtime, numbered, new.parent, author)
    written = _draft(runtime, numbered, new, standing, call.sender)
    _keep_pace(runtime, numbered, written)
    node, comment = _store(runtime, numbered, parent, written)
    thing = happened.name_of(node["_id"], comment["id"])
    happenings.send(runtime, node["site"], happened.KIND, thing)
    terms.settle(runtime, node, comment)
    happened.notify(runtime, node, comment["id"])
    reasons = comment.get("reasons", [])
    if "checking" in reasons:
        origins.send(runtime, node, comment["id"])
    if "unconfirmed" in reasons:
        node, comment = releasing.look_again(runtime, PlacedComment(node, comment))
    return Posted(node, comment, parent, standing)


def answer_of(runtime: Runtime, posted: Posted) -> CommentAnswer:
    """Return the API's answer to the author of a new comment, without a query."""
    node, comment, parent, standing = posted
    rights = Rights(standing.author, node, standing.rules, runtime.now())
    marks = Marks({}, {}) if is_marked(standing.rules) else None
    return comment_answer(
        node["_id"], comment, rights, marks, {parent["id"]: parent} if parent else {}
    )


def _draft(
    runtime: Runtime, node: Node, new: NewComment, standing: AuthorStanding, sender: Sender | None
) -> CommentDraft:
    """Return the draft of a comment under a new id; raises Duplicate."""
    made = draft.new_comment_id(runtime.random)
    others = door.note_text(runtime, node, made, new.text, standing)
    # A text without mentions needs no query.
    people = members.among(runtime, node, new.mentions, standing.author) if new.mentions else ()
    return CommentDraft(new, _recounted(runtime, new, standing), made, others, people, sender)


def _recounted(runtime: Runtime, new: NewComment, standing: AuthorStanding) -> AuthorStanding:
    """Return a standing, with a fresh count for a quick author without approved comments.

    Stored counts lag a first comment by minutes, and a second comment may follow at once.
    """
    person = standing.admitted.person
    if approved_of(person) or not is_quick(new.written_ms):
        return standing
    person = counting.count(runtime.database, person)
    return standing._replace(admitted=standing.admitted._replace(person=person))


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
    """Count a stored comment; return whether the node, or a move that copied it, has counted it."""
    generation = (node["_id"], node["generation"])
    copied = added is Added.DUPLICATE and generation not in stored_under
    if copied or added is Added.COUNTED:
        return True
    stored_under.add(generation)
    change, raised = counts_change(None, comment["state"]), nodes.version_change(comment)
    return nodes.count(runtime.database, node, change, raised)


class _Renumbered(NamedTuple):
    """A comment and its renumbered node; `is_copied`: the import has copied the comment."""

    node: Node
    parent: Comment | None
    comment: Comment
    is_copied: bool


def _renumber(
    runtime: Runtime, current: Node, comment: Comment, written: CommentDraft
) -> _Renumbered | None:
    """Number and place a comment again after an import renumbered its node.

    None: a move holds the node, or the node is gone, locked, or closed to the author.
    """
    there = ask(runtime, current, lambda store, now: store.get(now, comment["id"]))
    if there is not None:
        return _Renumbered(current, None, there, is_copied=True)
    author, parent_id = written.standing.author, written.new.parent
    node = nodes.take_seq(runtime, current["_id"], moderated_sites(author))
    if node is None:
        return None
    parent = None
    if parent_id is not None:
        parent = ask(runtime, node, lambda store, read: store.get(read, parent_id))
    again = written._replace(comment_id=comment["id"])
    placed = draft.place(runtime, node, parent, again)
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


def _open(runtime: Runtime, node_id: str, new: NewComment, author: Principal) -> None:
    """Insert the node of a first comment, if its site opens nodes and accepts the post.

    Raises UnknownNode, UnknownComment for a parent, CommentTooLarge, TextRefused, and TooFast
    for an author of many new nodes.
    """
    site = site_of(node_id)
    if site is None or site not in runtime.settings.open_nodes:
        raise UnknownNode
    if new.parent is not None:
        raise UnknownComment
    node = nodes.new_node(node_id, site)
    node["closes_at"] = settings.closing_at(runtime, site)
    # The node has no posts yet: the site knows the author from its other nodes, if at all.
    standing = _recounted(runtime, new, door.standing_in(runtime, node, author))
    draft.check(runtime, site, CommentDraft(new, standing))
    limits.take(runtime, limits.OPENED, author, None)
    vacancies.insert(runtime, node)


def _keep_pace(runtime: Runtime, node: Node, written: CommentDraft) -> None:
    """Count a comment in slow mode, after a check that nothing else refuses it.

    Raises TooFast, CommentTooLarge and TextRefused.
    """
    if door.slow_seconds(written.standing):
        draft.check(runtime, node["site"], written)
        door.count_pace(runtime, node, written.standing)


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
    """Return a comment in its place under an unused id, after storing its entry and happening."""
    comment = draft.place(runtime, node, parent, written)
    while not _enter(runtime, node, comment):
        written = written.with_another_id(runtime)
        comment = draft.place(runtime, node, parent, written)
    if comment["state"] == "pending":
        # Before the comment itself: a crash in between leaves a row too many, never one too few.
        queue.settle(runtime.database, node, comment)
    if "checking" in comment.get("reasons", []) and written.sender is not None:
        origins.note(runtime, node, comment, written.sender)
    thing = happened.name_of(node["_id"], comment["id"])
    happenings.note(runtime, node["site"], happened.KIND, thing)
    return comment


def _enter(runtime: Runtime, node: Node, comment: Comment) -> bool:
    """Insert the entry of a comment before the comment; return False if a comment has the id.

    An entry without a comment comes from an attempt that crashed; the new comment takes it over.
    """
    if entries.add(runtime.database, node, comment, (runtime.clock or runtime.now)()):
        return True
    if ask(runtime, node, lambda store, current: store.get(current, comment["id"])):
        return False
    entries.settle(runtime.database, node, comment)
    return True


def _give_back(runtime: Runtime, node: Node, comment_id: str) -> None:
    """Make the entry of an id agree with the older comment of the id, which lacked an entry."""
    other = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    if other is not None:
        entries.settle(runtime.database, node, other)
