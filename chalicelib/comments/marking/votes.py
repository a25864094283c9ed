"""Votes on comments, and reactions to comments and the page, within the limits of node and site.

A mark raises no version of the node (docs/decisions/0163).
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, cast

from chalicelib.comments import nodes
from chalicelib.comments.discussion import reading
from chalicelib.comments.discussion.reading import rights_in
from chalicelib.comments.entries import marked
from chalicelib.comments.entries import writing as entries
from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.entries.marked import PAGE
from chalicelib.comments.entries.rows import ENTRIES, CommentEntry, entry_id, is_shown_to, key_of
from chalicelib.comments.errors import NotEnabled, OwnComment, UnknownNode, UnknownReaction
from chalicelib.comments.mark_answers import MarksAnswer, marks_answer, page_marks
from chalicelib.comments.marking.vote_forms import (
    CommentVote,
    NodeMarksAnswer,
    ReactedAnswer,
    ReactedQuery,
)
from chalicelib.comments.node_ids import site_of
from chalicelib.comments.people.blocking import blocked_by
from chalicelib.comments.people.members import find_named
from chalicelib.comments.people.rows import PEOPLE, STANDING, Person, check_may_write, person_id
from chalicelib.comments.permissions import Rights, check_open
from chalicelib.comments.shapes import Node
from chalicelib.database import Document, upsert
from chalicelib.errors import FieldError, InvalidRequest, UnknownComment
from chalicelib.http.paging import Cursors, page_of
from chalicelib.identity import Principal
from chalicelib.marks import reading as marks_reading
from chalicelib.marks.placing import Change, React, Vote, place
from chalicelib.marks.shapes import NOTHING, Thing
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE


class MarkTarget(NamedTuple):
    """The target of a mark: an entry of a node, with the caller's rights and document there."""

    node: Node
    rights: Rights
    entry: Any
    person: Person | None


def vote(
    runtime: Runtime, node_id: str, comment_id: str, caller: Principal, body: CommentVote
) -> MarksAnswer:
    """Store the caller's vote on a comment; a repeated vote changes nothing.

    Raises UnknownNode, NodeMoved, UnknownComment, NodeLocked, NodeClosed, NotEnabled, OwnComment
    and InvalidRequest. A vote other than 0 may also raise Suspended, Banned and Unauthenticated.
    """
    target = find(runtime, node_id, comment_id, caller)
    allowed = target.rights.settings["votes"]
    if allowed == "off":
        raise NotEnabled
    if body.value < 0 and allowed == "up":
        detail = "Comments here are voted for, and not against"
        raise InvalidRequest(errors=[FieldError("value", "only_up", detail)])
    if target.entry["author_id"] == caller.id:
        raise OwnComment
    value, is_shadowed = cast("Literal[-1, 0, 1]", body.value), None
    if value:
        is_shadowed = _check_may_mark(runtime, target, caller)
    return _place(runtime, target, caller, Vote(value, is_shadowed))


def react(
    runtime: Runtime, node_id: str, comment_id: str, caller: Principal, key: str
) -> MarksAnswer:
    """Store a reaction of the caller's, beside their reactions with other keys.

    Raises UnknownNode, NodeMoved, UnknownComment, NodeLocked, NodeClosed, NotEnabled,
    UnknownReaction, Suspended, Banned, Unauthenticated and TooManyReactions.
    """
    target = find(runtime, node_id, comment_id, caller)
    offered = {each["key"] for each in target.rights.settings["reactions"]}
    if not offered:
        raise NotEnabled
    if key not in offered:
        raise UnknownReaction
    is_shadowed = _check_may_mark(runtime, target, caller)
    return _place(runtime, target, caller, React(key, is_shadowed=is_shadowed))


def withdraw(
    runtime: Runtime, node_id: str, comment_id: str, caller: Principal, key: str
) -> MarksAnswer:
    """Withdraw a reaction of the caller's, even if the site no longer offers it.

    Raises UnknownNode, NodeMoved, UnknownComment, NodeLocked and NodeClosed.
    """
    target = find(runtime, node_id, comment_id, caller)
    return _place(runtime, target, caller, React(key, adds=False))


def _check_may_mark(runtime: Runtime, target: MarkTarget, caller: Principal) -> bool:
    """Return whether the site shadows the caller, and note a shadow on the node.

    Raises Suspended, Banned, Unauthenticated, and NotEnabled for a guest where guests do not vote.
    """
    if caller.is_guest and not target.rights.settings.get("guests_vote", True):
        raise NotEnabled
    is_shadowed = check_may_write(target.person, target.node["site"], caller, target.rights.now)
    if is_shadowed:
        nodes.note_shadow(runtime.database, target.node)
    return is_shadowed


def find(runtime: Runtime, node_id: str, comment_id: str, caller: Principal | None) -> MarkTarget:
    """Return the target for a comment that the caller sees, or for the page (`PAGE`).

    Raises UnknownNode, NodeMoved and UnknownComment.
    """
    node, entry, person = _read(runtime, node_id, comment_id, caller)
    if not nodes.is_visible(node, caller, runtime.now()):
        raise UnknownNode
    rights = reading.rights_in(runtime, node, caller)
    if entry is None:
        entry = _make_entry(runtime, node, comment_id, caller)
    if not is_shown_to(entry, caller.id if caller else None):
        raise UnknownComment
    return MarkTarget(node, rights, entry, person)


def _read(
    runtime: Runtime, node_id: str, comment_id: str, caller: Principal | None
) -> tuple[Node, Any, Person | None]:
    """Read a node, an entry of it, and the caller's document at its site, in one round trip.

    Raises UnknownNode and NodeMoved.
    """
    site = site_of(node_id) or DEFAULT_SITE
    entry = {"_id": entry_id(node_id, comment_id), "site": site}
    stages: list[Document] = [
        {"$match": {"_id": node_id}},
        {"$project": nodes.WITHOUT_COMMENTS},
        _beside("entry", ENTRIES.name, entry, (*KIND.shown, "state", "shadow")),
    ]
    if caller is not None:
        person = {"_id": person_id(site, caller.id)}
        stages.append(_beside("person", PEOPLE.name, person, STANDING))
    row: Any = next(nodes.NODES.of(runtime.database).aggregate(stages), {})
    found, known = (next(iter(row.pop(name, ())), None) for name in ("entry", "person"))
    return nodes.existing(row or None), found, known


def _beside(name: str, collection: str, key: Document, fields: Sequence[str]) -> Document:
    """Return the stage that reads a document of another collection beside a node."""
    pipeline = [{"$match": key}, {"$project": dict.fromkeys(fields, 1)}]
    return {"$lookup": {"from": collection, "pipeline": pipeline, "as": name}}


def _make_entry(
    runtime: Runtime, node: Node, comment_id: str, caller: Principal | None
) -> CommentEntry:
    """Make a page's entry at its first mark, or a comment's missing entry just after a move."""
    rows, key = ENTRIES.of(runtime.database), key_of(node, comment_id)
    if comment_id == PAGE:
        upsert(rows, key, {"$setOnInsert": _page_entry(runtime, node)})
    else:
        comment = reading.find(runtime, node, comment_id, caller)
        entries.settle(runtime.database, node, comment)
    found = rows.find_one(key)
    if found is None:
        raise UnknownComment
    return found


def _page_entry(runtime: Runtime, node: Node) -> Any:
    """Return the fields of the entry of a page, which has no author."""
    numbers = dict.fromkeys(("seq", "depth", "thread", "up", "down", "best", "top", "contro"), 0)
    whose = {"node_id": node["_id"], "id": PAGE, "author_id": None, "state": "visible"}
    listed = {"ranked": False, "queue": None, "todo": None}
    return {**whose, **numbers, **listed, "posted": runtime.now(), "reactions": {}}


def _place(runtime: Runtime, target: MarkTarget, caller: Principal, change: Change) -> MarksAnswer:
    rights = target.rights
    check_open(target.node, rights.now, moderates=rights.viewer.moderator)
    thing = Thing(KIND, thing_id(target.entry), target.entry)
    marked = place(runtime, thing, caller.id, change)
    return marks_answer(marked.counter, marked.mine, target.rights)


# Reads of marks: counts, a caller's own marks, and the people who reacted.


def marks_of_node(
    runtime: Runtime, node_id: str, comment_ids: Sequence[str], caller: Principal | None
) -> NodeMarksAnswer:
    """Return the marks of a page, and of the comments among these that the caller sees.

    Raises UnknownNode and NodeMoved.
    """
    node = nodes.find_for(runtime, node_id, caller)
    rights = rights_in(runtime, node, caller)
    ids = (*comment_ids, marked.PAGE)
    user_id = caller.id if caller else None
    found = marked.read(runtime.database, node, ids, user_id, marked.GUARDED_COUNTS)
    comments = {
        id_: marks_answer(entry, found.mine.get(id_, NOTHING), rights)
        for id_, entry in found.counts.items()
        if id_ != marked.PAGE and is_shown_to(entry, user_id)
    }
    return {"page": page_marks(marked.PAGE, found, rights), "comments": comments}


def list_reactors(
    runtime: Runtime, target: MarkTarget, key: str, query: ReactedQuery
) -> ReactedAnswer:
    """Return a page of the people who reacted in one way; raises InvalidCursor."""
    assert target.rights.caller is not None  # noqa: S101 - the route has a caller
    reader = target.rights.caller
    reacted_to = thing_id(target.entry)
    cursors = Cursors(f"reacted:{reacted_to}:{key}", runtime.settings.signing_keys)
    position = cursors.position(query)
    after = str(position[0]) if position else ""
    reaction = marks_reading.ReactionOn(KIND, reacted_to, key)
    rows = marks_reading.list_reactors(
        runtime.database, reaction, reader.id, after, query.limit + 1
    )
    shown, last = page_of(rows, query.limit)
    site = target.node["site"]
    hidden = blocked_by(runtime, site, reader.id)
    named = find_named(runtime.database, site, shown)
    return {
        "people": [
            {"id": each, "name": named[each].name if each in named else None}
            for each in shown
            if each not in hidden
        ],
        "next": cursors.following([last] if last else None),
    }
