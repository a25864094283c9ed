"""The discussions of a site as lines of a file, in Plaza's own format (docs/imports.md)."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pymongo import ASCENDING

from chalicelib.comments import nodes
from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.entries.rows import ENTRIES, key_of
from chalicelib.comments.importing.rows import MAX_BALLOTS
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.store import Moved
from chalicelib.comments.stores import store_of
from chalicelib.database import Document, prefix_range
from chalicelib.errors import Unavailable
from chalicelib.marks.shapes import MARKS, marks_on
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE

VERSION = 1
_BATCH = 500
_NODES_AT_ONCE = 100
_ATTEMPTS = 5
_SETTINGS = ("store", "threaded", "max_depth", "moderation", "votes", "order", "slow_seconds")
_TIMES = ("opens_at", "closes_at", "public_from", "public_until")
_MARKED = dict.fromkeys(("up", "down", "base", "reactions", "featured"), 1)

Line = dict[str, Any]


def lines_of(runtime: Runtime, site: str) -> Iterator[Line]:
    """Yield the lines of a site's export: the head, each node with its comments, and the counts.

    Nodes and comments may change during the export. Raises Unavailable for a node that moves at
    each of five attempts.
    """
    at = _instant(runtime.now())
    yield {"plaza": VERSION, "kind": "export", "site": site, "at": at}
    counted = {"node": 0, "comment": 0}
    for node in nodes_of(runtime, site):
        for line in _node_lines(runtime, node):
            counted[line["kind"]] += 1
            yield line
    yield {"kind": "end", "nodes": counted["node"], "comments": counted["comment"]}


def nodes_of(runtime: Runtime, site: str) -> Iterator[Node]:
    """Yield the nodes of a site, sorted by id."""
    after = ""
    while True:
        # The default site's nodes stand among all others, since their ids need not name it.
        ids: Document = {"$gt": after}
        if site != DEFAULT_SITE:
            ids |= prefix_range(f"{site}:")
        where = {"_id": ids, "site": site, **nodes.OCCUPIED}
        found = nodes.NODES.of(runtime.database).find(where, nodes.WITHOUT_COMMENTS)
        page = list(found.sort("_id", ASCENDING).limit(_NODES_AT_ONCE))
        yield from page
        if len(page) < _NODES_AT_ONCE:
            return
        after = page[-1]["_id"]


def batches_of(runtime: Runtime, node: Node) -> Iterator[list[Comment]]:
    """Yield the comments of a node's generation in batches of 500; raises Moved."""
    exported = itertools.chain.from_iterable(store_of(runtime, node).export(node))
    while batch := list(itertools.islice(exported, _BATCH)):
        yield batch


def _node_lines(runtime: Runtime, node: Node) -> Iterator[Line]:
    for _ in range(_ATTEMPTS):
        current = nodes.look(runtime.database, node["_id"])
        if current is None or "vacant" in current:
            return
        batches = batches_of(runtime, current)
        try:
            # An embedded node raises Moved at its first batch alone: one read returns its comments.
            first = next(batches, [])
        except Moved:
            continue
        yield _node_line(current)
        for batch in itertools.chain([first] if first else [], batches):
            yield from _comment_lines(runtime, current, batch)
        return
    raise Unavailable("The discussion is being moved")


def _node_line(node: Node) -> Line:
    fields: Mapping[str, Any] = node
    return {
        "kind": "node",
        "id": node["_id"],
        "url": node["url"] or None,
        "title": node["title"],
        "locked": node["locked"],
        **{name: fields.get(name) for name in _SETTINGS},
        **{name: _instant(fields.get(name)) for name in _TIMES},
        "pinned": node.get("pinned", []),
    }


def _comment_lines(runtime: Runtime, node: Node, batch: Sequence[Comment]) -> Iterator[Line]:
    entries = entries_of(runtime, node, batch)
    for comment in batch:
        yield _comment_line(runtime, node, comment, entries.get(comment["id"], {}))


def _comment_line(runtime: Runtime, node: Node, comment: Comment, entry: Mapping[str, Any]) -> Line:
    votes, reactions = marks_of(runtime, node, comment, entry)
    base = entry.get("base") or {"up": 0, "down": 0}
    given = [vote for _, vote in votes]
    votes, reactions = _cut(votes, reactions)
    line: Line = {
        "kind": "comment",
        "id": comment["id"],
        "seq": comment["seq"],
        "parent": comment["parent_id"],
        "slug": comment["slug"],
        "posted": _instant(comment["posted"]),
        "edited": _instant(comment["edited"]),
        "author": comment["author"],
        "text": comment["text"] or "",
        "state": comment["state"],
        "up": base["up"] + given.count(1),
        "down": base["down"] + given.count(-1),
        "votes": votes,
    }
    told: Mapping[str, Any] = comment
    line |= {
        name: told[name] for name in ("reply_to", "reasons", "mentions", "shadow") if told.get(name)
    }
    times = {"spam_since": told.get("spam_since"), "featured": entry.get("featured")}
    line |= {name: _instant(time) for name, time in times.items() if time}
    return {**line, "reactions": reactions} if reactions else line


def _cut(votes: list[Any], reactions: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the marks of at most MAX_BALLOTS people, voters first: an import reads no more."""
    votes = votes[:MAX_BALLOTS]
    voters = {person for person, _ in votes}
    room = MAX_BALLOTS - len(votes)
    others = [each for each in reactions if each[0] not in voters][:room]
    return votes, [each for each in reactions if each[0] in voters] + others


def entries_of(
    runtime: Runtime, node: Node, batch: Sequence[Comment]
) -> dict[str, Mapping[str, Any]]:
    """Return parts of the comments' entries, by comment id: votes, reactions and `featured`."""
    keys = [key_of(node, comment["id"])["_id"] for comment in batch]
    where = {"site": node["site"], "_id": {"$in": keys}}
    found: Any = ENTRIES.of(runtime.database).find(where, _MARKED)
    return {row["_id"].rpartition("/")[2]: row for row in found}


def marks_of(
    runtime: Runtime, node: Node, comment: Comment, entry: Mapping[str, Any]
) -> tuple[list[list[Any]], list[list[Any]]]:
    """Return the votes and the reactions on a comment, as pairs with the person's id.

    It leaves out shadowed marks, which count for their person alone.
    """
    if not (entry.get("up") or entry.get("down") or entry.get("reactions")):
        return [], []
    on = marks_on(KIND, thing_id(key_of(node, comment["id"])))
    of_thing = {**on, "shadowed": {"$ne": True}}
    votes, reactions = [], []
    for mark in MARKS.of(runtime.database).find(of_thing).sort("_id", ASCENDING):
        if mark["vote"]:
            votes.append([mark["user_id"], mark["vote"]])
        if mark["reactions"]:
            reactions.append([mark["user_id"], mark["reactions"]])
    return votes, reactions


def _instant(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
