"""Writing to a discussion so that no move of its node loses the write.

A post has four steps: take a number from the node, make the comment's entry, store the comment
under the node's generation, confirm by counting it if the node still has that generation. A move
(`chalicelib.comments.stores.promotion`) makes the confirmation miss; the post then goes again with
the same id and number, and finding itself there already means that it was copied and counted.
"""

import random
from typing import NamedTuple

from chalicelib import happenings, limits
from chalicelib.comments import happened, nodes, opening, seen
from chalicelib.comments.discussion import pace
from chalicelib.comments.discussion.turns import make_room, turns, waits
from chalicelib.comments.entries import writing as entries
from chalicelib.comments.errors import NotThreaded, UnknownNode
from chalicelib.comments.judgement.judge import Verdict, Writer, Written, judge
from chalicelib.comments.models import NewComment, Preview
from chalicelib.comments.moderation import queue
from chalicelib.comments.node_ids import site_of
from chalicelib.comments.order import segment
from chalicelib.comments.people import admission
from chalicelib.comments.people.admission import Admitted, author_of
from chalicelib.comments.permissions import viewer
from chalicelib.comments.rendered import RENDERER, rendered
from chalicelib.comments.shapes import Comment, CommentSite, Node, Placed
from chalicelib.comments.sites import settings
from chalicelib.comments.store import GONE, Added, Full, Moved, counts_change
from chalicelib.comments.stores import ask, store_of
from chalicelib.errors import Unavailable, UnknownComment
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE
from chalicelib.sites.permissions import moderated_sites, moderates

# Crockford's base32: no letter that reads like another letter or a digit.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_ID_CHARACTERS = 10


class _Written(NamedTuple):
    """A comment as it was sent, and its author as the site knew them."""

    new: NewComment
    author: Principal
    admitted: Admitted
    # The id that its comment has, unless that is taken.
    comment_id: str = ""
    others: int = 0


def new_comment_id(rng: random.Random) -> str:
    """Return ten random characters: 50 bits, unique within a node."""
    return "".join(rng.choices(_ALPHABET, k=_ID_CHARACTERS))


def post_comment(runtime: Runtime, node_id: str, new: NewComment, author: Principal) -> Placed:
    """Post a comment and return it with its node.

    Raises UnknownNode, NodeLocked, NodeClosed, UnknownComment for the parent, NotThreaded,
    CommentTooLarge, TextRefused, Duplicate, Suspended, Banned, TooFast, and Unavailable when a
    move of the node outlasts the budget of time.
    """
    placed = _post(runtime, node_id, new, author)
    thing = happened.name_of(placed.node["_id"], placed.comment["id"])
    happenings.send(runtime, placed.node["site"], happened.KIND, thing)
    seen_by = viewer(author, placed.node["site"])
    return Placed(placed.node, seen_by.shown(placed.comment))


def _post(runtime: Runtime, node_id: str, new: NewComment, author: Principal) -> Placed:
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
    written = _written(runtime, node, new, author, admitted)
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
                written = written._replace(comment_id=new_comment_id(runtime.random))
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
    """Return the HTML that a comment would have on a new node; raises CommentTooLarge."""
    site = site_of(new.node) if new.node else None
    return rendered(runtime, site or DEFAULT_SITE, new.text)


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
    html = rendered(runtime, site, new.text)
    _judged(_Written(new, author, known), html, settings.of(runtime, site))
    limits.take(runtime, limits.OPENED, author, None)
    node = nodes.new_node(node_id, site)
    node["closes_at"] = settings.closing_at(runtime, site)
    nodes.insert(runtime.database, node)


def _keep_pace(runtime: Runtime, node: Node, written: _Written) -> None:
    """Count a comment that is going to be taken, in slow mode.

    Raises TooFast, and CommentTooLarge and TextRefused for what is not taken.
    """
    seconds = pace.seconds_for(runtime, node, written.author)
    if seconds:
        html = rendered(runtime, node["site"], written.new.text)
        _judged(written, html, settings.in_force(runtime, node))
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


def _compose(runtime: Runtime, node: Node, parent: Comment | None, written: _Written) -> Comment:
    """Return a comment with a new id in its place, which has its entry already."""
    comment = _placed(runtime, node, parent, written)
    while not _enter(runtime, node, comment):
        written = written._replace(comment_id=new_comment_id(runtime.random))
        comment = _placed(runtime, node, parent, written)
    if comment["state"] == "pending":
        # Before the comment itself: a crash in between leaves a row too many, never one too few.
        queue.settle(runtime.database, node, comment)
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


def _placed(runtime: Runtime, node: Node, parent: Comment | None, written: _Written) -> Comment:
    """Return a comment with a new id in its place."""
    author, comment_id = written.author, written.comment_id
    html = rendered(runtime, node["site"], written.new.text)
    verdict = _judged(written, html, settings.in_force(runtime, node))
    # The node has a time, since the comment has a number.
    posted, seq = node["last_posted"] or runtime.now(), node["last_seq"]
    # Below the deepest level a reply joins the replies to its parent's parent.
    ids = parent["slug"].split("/")[: node["max_depth"]] if parent else []
    segments = parent["full_slug"].split("/")[: node["max_depth"]] if parent else []
    comment = Comment(
        id=comment_id,
        seq=seq,
        parent_id=ids[-1] if ids else None,
        slug="/".join([*ids, comment_id]),
        full_slug="/".join([*segments, segment(posted, seq, comment_id)]),
        depth=len(ids),
        posted=posted,
        edited=None,
        author=author_of(author, written.admitted),
        text=written.new.text,
        html=html,
        renderer=RENDERER,
        state="hidden" if written.admitted.is_shadowed else verdict.state,
        reply_count=0,
    )
    if written.admitted.is_shadowed:
        comment["shadow"] = verdict.state
    if verdict.reasons:
        comment["reasons"] = verdict.reasons
    return comment


def _judged(written: _Written, html: str, site: CommentSite) -> Verdict:
    """Return what becomes of a new text by the settings that hold there; raises TextRefused."""
    new = written.new
    text = Written(new.text, html, new.website, new.written_ms, written.others)
    return judge(text, writer_of(written.author, written.admitted), site)


def _written(
    runtime: Runtime, node: Node, new: NewComment, author: Principal, admitted: Admitted
) -> _Written:
    """Return a comment with the id that it shall have; raises Duplicate."""
    made = new_comment_id(runtime.random)
    return _Written(new, author, admitted, made, others_of(runtime, node, made, new.text, author))


def others_of(runtime: Runtime, node: Node, comment_id: str, text: str, author: Principal) -> int:
    """Note the text of a comment, and return how many others have lately written the same.

    Nothing is noted of moderators, and where nobody asks. Raises Duplicate.
    """
    repeats = settings.in_force(runtime, node)["repeats"]
    if repeats == "allow" or moderates(author, node["site"]):
        return 0
    thing = happened.name_of(node["_id"], comment_id)
    return seen.mark(runtime, seen.Writing(node["site"], author.id, thing, text))


def writer_of(author: Principal, admitted: Admitted) -> Writer:
    """Return the author of a text as a judge is told of them."""
    person = admitted.person
    is_moderator = moderates(author, person["site"])
    return Writer(is_moderator, admitted.trust, person["counts"]["visible"])
