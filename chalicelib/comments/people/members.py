"""Who takes part in a node: people with a visible comment there, read from entries.

Nothing is kept of them beside the entries: no second copy has to follow what is hidden, renamed,
erased, or moved along with its node.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pymongo.database import Database

from chalicelib.comments.entries.rows import ENTRIES, TAKING_PART
from chalicelib.comments.mentions import Mention
from chalicelib.comments.people.blocking import blocked_by
from chalicelib.comments.people.rows import PEOPLE, person_id
from chalicelib.comments.shapes import Node
from chalicelib.database import Document
from chalicelib.identity import Principal
from chalicelib.people.names import name_key
from chalicelib.runtime import Runtime

MOST_MATCHES = 10
# Entries that are read at once: somebody may have written many.
_AT_ONCE = 200
# Each begins after the last person that the one before has seen.
_MOST_READS = 20
# Comes after every character of a name.
_LAST = "\U0010ffff"
_BY_NAME = [("author_key", 1), ("author_id", 1)]


class Member(NamedTuple):
    """Somebody who takes part in a node."""

    id: str
    name: str


def matching(runtime: Runtime, node: Node, text: str, caller: Principal) -> list[Member]:
    """Return at most ten who take part in a node and whose names begin with a text, by name.

    Case and accents do not matter. Left out is whom the caller has blocked, and who is banned.
    """
    key = name_key(text)
    if not key:
        return []
    left_out = blocked_by(runtime, node["site"], caller.id)
    shown: dict[str, Member] = {}
    seen, ranges = set[str](), [_beginning_with(key)]
    for _ in range(_MOST_READS):
        rows = _read(runtime.database, node, ranges)
        ids = dict.fromkeys(row["author_id"] for row in rows)
        new = [each for each in ids if each not in seen and each not in left_out]
        seen.update(new)
        found = named(runtime.database, node["site"], new)
        shown |= {each: found[each] for each in new if _is_found(found.get(each), key)}
        if len(rows) < _AT_ONCE or len(shown) >= MOST_MATCHES:
            break
        last = rows[-1]["author_key"], rows[-1]["author_id"]
        ranges = [_of_key(*last), _beginning_with(key, after=last[0])]
    return list(shown.values())[:MOST_MATCHES]


def among(runtime: Runtime, node: Node, ids: Sequence[str]) -> list[Mention]:
    """Return those of some people who take part in a node, in their order; no others exist."""
    known = named(runtime.database, node["site"], list(dict.fromkeys(ids)))
    members = (known[each] for each in dict.fromkeys(ids) if each in known)
    return [Mention(id=each.id, name=each.name) for each in members if _is_in(runtime, node, each)]


def _is_in(runtime: Runtime, node: Node, member: Member) -> bool:
    """Return whether somebody has a visible comment in a node."""
    of_node = {"site": node["site"], "node_id": node["_id"], **TAKING_PART}
    where = {**of_node, "author_key": name_key(member.name), "author_id": member.id}
    return ENTRIES.of(runtime.database).find_one(where, {"_id": 0, "author_id": 1}) is not None


def named(database: Database[Document], site: str, ids: Sequence[str]) -> dict[str, Member]:
    """Return the people whom a site knows under these ids, by id, without who is banned."""
    if not ids:
        return {}
    where = {"_id": {"$in": [person_id(site, each) for each in ids]}, "status": {"$ne": "banned"}}
    rows = PEOPLE.of(database).find(where, {"user_id": 1, "name": 1})
    return {row["user_id"]: Member(row["user_id"], row["name"]) for row in rows}


def _read(
    database: Database[Document], node: Node, ranges: Sequence[Document]
) -> list[Mapping[str, Any]]:
    """Return keys and ids of authors by key, for each comment, by an index that has both."""
    of_node = {"site": node["site"], "node_id": node["_id"], **TAKING_PART}
    branches = [{**of_node, **each} for each in ranges]
    where = {"$or": branches} if branches[1:] else branches[0]
    fields = {"_id": 0, "author_key": 1, "author_id": 1}
    rows: Any = ENTRIES.of(database).find(where, fields, batch_size=_AT_ONCE + 1)
    return list(rows.sort(_BY_NAME).limit(_AT_ONCE))


def _beginning_with(key: str, after: str | None = None) -> Document:
    beyond = {"$gte": key} if after is None else {"$gt": after}
    return {"author_key": {**beyond, "$lt": key + _LAST}}


def _of_key(key: str, after: str) -> Document:
    return {"author_key": key, "author_id": {"$gt": after}}


def _is_found(member: Member | None, key: str) -> bool:
    """Return whether somebody is known, and still has a name that begins so."""
    return member is not None and name_key(member.name).startswith(key)
