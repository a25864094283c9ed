"""Writing to a discussion so that no move of its node loses the write.

A post has four steps: take a number from the node, make the comment's entry, store the comment
under the node's generation, confirm by counting it if the node still has that generation. A move
(`chalicelib.comments.stores.promotion`) makes the confirmation miss; the post then goes again with
the same id and number, and finding itself there already means that it was copied and counted.
"""

from chalicelib import happenings, limits
from chalicelib.comments import happened, nodes, opening
from chalicelib.comments.discussion import composing, pace
from chalicelib.comments.discussion.composing import Draft
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
from chalicelib.comments.rendered import rendered
from chalicelib.comments.shapes import Comment, Node, Placed
from chalicelib.comments.sites import settings
from chalicelib.comments.spam_check import origins
from chalicelib.comments.spam_check.origins import Sender
from chalicelib.comments.store import GONE, Added, Full, Moved, counts_change
from chalicelib.comments.stores import ask, store_of
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
) -> Placed:
    """Post a comment and return it with its node.

    Raises UnknownNode, NodeLocked, NodeClosed, UnknownComment for the parent, NotThreaded,
    CommentTooLarge, TextRefused, Duplicate, Suspended, Banned, TooFast, and Unavailable when a
    move of the node outlasts the budget of time.
    """
    placed = _post(runtime, node_id, new, author, sender)
    thing = happened.name_of(placed.node["_id"], placed.comment["id"])
    happenings.send(runtime, placed.node["site"], happened.KIND, thing)
    if "checking" in placed.comment.get("reasons", []):
        origins.send(runtime, placed.node, placed.comment["id"])
    seen_by = viewer(author, placed.node["site"])
    return Placed(placed.node, seen_by.shown(placed.comment))


def _post(
    runtime: Runtime, node_id: str, new: NewComment, author: Principal, sender: Sender | None
) -> Placed:
    """Post a comment; its happening is noted before it is stored.

    Raises as `post_comment`.
    """
    site = site_of(node_id)
    pace.check(runtime, node_id, author)
    admitted = admission.admit(runtime, site, author) if site else None
    node = _take_seq(runtime, node_id, new, author)
    if admitted is None or node["site"] != site:
        # Their first post at the site, or a node of an earlier release, whose id is another's.
        admitted = admission.admit_first(runtime, node["site"], author)
    parent = _parent(runtime, node, new.parent, author)
    written = composing.draft(runtime, node, new, author, admitted)._replace(sender=sender)
    _keep_pace(runtime, node, written)
    comment = _compose(runtime, node, parent, written)
    stored_under: set[tuple[str, int]] = set()
    try:
        for current in turns(runtime, node):
            if current["_id"] != node["_id"]:
                queue.settle(runtime.database, current, comment)
                entries.settle(runtime.database, current, comment)
            added = _add(runtime, current, comment)
            if added is Added.COLLISION:
                _give_back(runtime, current, comment["id"])
                written = written.with_another_id(runtime)
                comment = _compose(runtime, node, parent, written)
            if added in (None, Added.COLLISION):
                continue
            generation = (current["_id"], current["generation"])
            copied = added is Added.DUPLICATE and generation not in stored_under
            if copied or added is Added.COUNTED:
                return Placed(current, comment)
            stored_under.add(generation)
            change, raised = counts_change(None, comment["state"]), nodes.raised_by(comment)
            if nodes.count(runtime.database, current, change, raised):
                return Placed(current, comment)
    except UnknownNode:
        queue.remove(runtime.database, node, comment["id"])
        entries.remove(runtime.database, node, comment)
        raise
    raise Unavailable("The discussion is being moved")


def preview(runtime: Runtime, new: Preview) -> str:
    """Return the HTML that a comment would have on its node, or a new one.

    Raises CommentTooLarge.
    """
    node = nodes.look(runtime.database, new.node) if new.node else None
    if node is None:
        site = site_of(new.node) if new.node else None
        return rendered(runtime, site or DEFAULT_SITE, new.text)
    people = Mentions(members.among(runtime, node, new.mentions))
    return rendered(runtime, node["site"], new.text, people)


def _add(runtime: Runtime, node: Node, comment: Comment) -> Added | None:
    """Store a comment, or make room for it; returns None if it has to be tried again."""
    try:
        return store_of(runtime, node).add(node, comment)
    except Moved:
        return None
    except Full:
        make_room(runtime, node)
        return None


def _take_seq(runtime: Runtime, node_id: str, new: NewComment, author: Principal) -> Node:
    """Number the comment, waiting for a move to end; raises as `_explain`."""
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
    opening.check_open(node, runtime.now(), moderates=moderates(author, node["site"]))
    nodes.find_settled(runtime.database, node_id, runtime.now())


def _open(runtime: Runtime, node_id: str, new: NewComment, author: Principal) -> None:
    """Make the node of a first comment, if its site is open and the post is sound.

    Raises UnknownNode, UnknownComment for a parent, CommentTooLarge, TextRefused, and TooFast
    for an author who has just made many.
    """
    site = site_of(node_id)
    if site is None or site not in runtime.settings.open_nodes:
        raise UnknownNode
    if new.parent is not None:
        raise UnknownComment
    # Nobody has posted there: the site knows the author from its other nodes, if at all.
    known = admission.standing_of(runtime, site, author)
    composing.check(runtime, site, Draft(new, author, known), settings.of(runtime, site))
    limits.take(runtime, limits.OPENED, author, None)
    node = nodes.new_node(node_id, site)
    node["closes_at"] = settings.closing_at(runtime, site)
    vacancies.insert(runtime, node)


def _keep_pace(runtime: Runtime, node: Node, written: Draft) -> None:
    """Count a comment that is going to be taken, in slow mode.

    Raises TooFast, and CommentTooLarge and TextRefused for what is not taken.
    """
    seconds = pace.seconds_for(runtime, node, written.author)
    if seconds:
        composing.check(runtime, node["site"], written, settings.in_force(runtime, node))
        pace.count(runtime, node, written.author, seconds)


def _parent(
    runtime: Runtime, node: Node, parent_id: str | None, author: Principal
) -> Comment | None:
    """Return the comment that is replied to; raises NotThreaded and UnknownComment."""
    if parent_id is None:
        return None
    if not node["threaded"]:
        raise NotThreaded
    parent = ask(runtime, node, lambda store, current: store.get(current, parent_id))
    if parent is None or parent["state"] in GONE or not viewer(author, node["site"]).sees(parent):
        raise UnknownComment
    return parent


def _compose(runtime: Runtime, node: Node, parent: Comment | None, written: Draft) -> Comment:
    """Return a comment with a new id in its place, which has its entry already."""
    comment = composing.placed(runtime, node, parent, written)
    while not _enter(runtime, node, comment):
        written = written.with_another_id(runtime)
        comment = composing.placed(runtime, node, parent, written)
    if comment["state"] == "pending":
        # Before the comment itself: a crash in between leaves a row too many, never one too few.
        queue.settle(runtime.database, node, comment)
    if "checking" in comment.get("reasons", []) and written.sender is not None:
        origins.note(runtime, node, comment, written.sender)
    thing = happened.name_of(node["_id"], comment["id"])
    happenings.note(runtime, node["site"], happened.KIND, thing)
    return comment


def _enter(runtime: Runtime, node: Node, comment: Comment) -> bool:
    """Make the comment's entry before the comment; return False if its id is taken.

    An entry that is there without its comment is that of an earlier attempt, which ended.
    """
    if entries.add(runtime.database, node, comment, runtime.now()):
        return True
    if ask(runtime, node, lambda store, current: store.get(current, comment["id"])):
        return False
    entries.settle(runtime.database, node, comment)
    return True


def _give_back(runtime: Runtime, node: Node, comment_id: str) -> None:
    """Leave an entry to the comment that had its id before, and had no entry."""
    other = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    if other is not None:
        entries.settle(runtime.database, node, other)
