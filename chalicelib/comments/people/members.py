"""Participants of a node: people with a visible comment there, read from entries.

There is no copy beside the entries: a copy would have to follow each hidden comment, rename,
erasure and move of a node.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pymongo.database import Database

from chalicelib.comments.entries.rows import CONCEALED_PART, ENTRIES, TAKING_PART
from chalicelib.comments.mentions import Mention
from chalicelib.comments.people.blocking import blocked_by
from chalicelib.comments.people.rows import PEOPLE, person_id
from chalicelib.comments.shapes import Node
from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.people.ids import IMPORTED_ID
from chalicelib.people.names import name_key
from chalicelib.runtime import Runtime

MOST_MATCHES = 10
# Entries in one read: a person may have written many.
_AT_ONCE = 200
# The most reads for one answer; each begins after the last person of the read before.
_MOST_READS = 20
# Sorts after every character of a name.
_LAST = "\U0010ffff"
_BY_NAME = [("author_key", 1), ("author_id", 1)]


class Participant(NamedTuple):
    """A person who takes part in a node."""

    id: str
    name: str


def matching(runtime: Runtime, node: Node, text: str, caller: Principal) -> list[Participant]:
    """Return at most ten participants of a node whose names begin with a text, by name.

    Case and accents do not matter. Without banned people and people whom the caller has blocked.
    """
    key = name_key(text)
    if not key:
        return []
    left_out = blocked_by(runtime, node["site"], caller.id)
    shown = _find_self(runtime, node, caller, key)
    enough = len(shown) + MOST_MATCHES
    seen, ranges = set[str](), [_beginning_with(key)]
    for _ in range(_MOST_READS):
        rows = _read(runtime.database, node, ranges)
        ids = dict.fromkeys(row["author_id"] for row in rows)
        new = [each for each in ids if each not in seen and each not in left_out]
        seen.update(new)
        found = find_named(runtime.database, node["site"], new)
        shown |= {each: found[each] for each in new if _is_found(found.get(each), key)}
        if len(rows) < _AT_ONCE or len(shown) >= enough:
            break
        last = rows[-1]["author_key"], rows[-1]["author_id"]
        ranges = [_of_key(*last), _beginning_with(key, after=last[0])]
    by_name = sorted(shown.values(), key=lambda each: (name_key(each.name), each.id))
    return by_name[:MOST_MATCHES]


def _find_self(runtime: Runtime, node: Node, caller: Principal, key: str) -> dict[str, Participant]:
    """Return the caller by id if they have a shadowed comment here and their name matches."""
    if not node.get("shadows"):
        return {}
    found = find_named(runtime.database, node["site"], [caller.id])
    return {
        each: member
        for each, member in found.items()
        if _is_found(member, key) and _is_in(runtime, node, member, CONCEALED_PART)
    }


def among(runtime: Runtime, node: Node, ids: Sequence[str], author: Principal) -> list[Mention]:
    """Return the people with these ids who are participants of a node, in the order of the ids.

    `author`: also a participant by shadowed comments.
    """
    known = find_named(runtime.database, node["site"], list(dict.fromkeys(ids)))
    members = (known[each] for each in dict.fromkeys(ids) if each in known)
    return [
        Mention(id=each.id, name=each.name)
        for each in members
        if _is_in(runtime, node, each)
        or (each.id == author.id and _is_in(runtime, node, each, CONCEALED_PART))
    ]


def _is_in(runtime: Runtime, node: Node, member: Participant, part: Document = TAKING_PART) -> bool:
    """Return whether a person has a comment of `part` in a node; by default, a visible comment."""
    of_node = {"site": node["site"], "node_id": node["_id"], **part}
    where = {**of_node, "author_key": name_key(member.name), "author_id": member.id}
    return ENTRIES.of(runtime.database).find_one(where, {"_id": 0, "author_id": 1}) is not None


def find_named(
    database: Database[Document], site: str, ids: Sequence[str]
) -> dict[str, Participant]:
    """Return the people of a site with these ids, by id, without banned and imported people."""
    if not ids:
        return {}
    # Imported people read no mentions.
    read = [person_id(site, each) for each in ids if not IMPORTED_ID.fullmatch(each)]
    where = {"_id": {"$in": read}, "status": {"$ne": "banned"}}
    rows = PEOPLE.of(database).find(where, {"user_id": 1, "name": 1})
    return {row["user_id"]: Participant(row["user_id"], row["name"]) for row in rows}


def _read(
    database: Database[Document], node: Node, ranges: Sequence[Document]
) -> list[Mapping[str, Any]]:
    """Return key and id of each comment's author, ordered by key, from an index alone."""
    of_node = {"site": node["site"], "node_id": node["_id"], **TAKING_PART}
    branches = [{**of_node, **each} for each in ranges]
    where = {"$or": branches} if branches[1:] else branches[0]
    fields = {"_id": 0, "author_key": 1, "author_id": 1}
    rows: Any = ENTRIES.of(database).find(where, fields)
    return list(rows.sort(_BY_NAME).limit(_AT_ONCE))


def _beginning_with(key: str, after: str | None = None) -> Document:
    beyond = {"$gte": key} if after is None else {"$gt": after}
    return {"author_key": {**beyond, "$lt": key + _LAST}}


def _of_key(key: str, after: str) -> Document:
    return {"author_key": key, "author_id": {"$gt": after}}


def _is_found(member: Participant | None, key: str) -> bool:
    """Return whether a person is known, and their name still begins with the key."""
    return member is not None and name_key(member.name).startswith(key)
