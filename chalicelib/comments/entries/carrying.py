"""The entries of a node that has moved to another id: carried there with their votes.

They stay where they were until they are carried, so a crash loses none, and the schedule carries
what is left (`lifecycle.vacancies.sweep`). Each batch is carried in one transaction: no vote is
counted twice, and a vote that was given at the new id in the meantime is added to the others.
"""

from typing import Any, cast

from pymongo import UpdateOne
from pymongo.client_session import ClientSession

from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.entries.rank_keys import rank_stages
from chalicelib.comments.entries.rows import ENTRIES, Entry, all_of
from chalicelib.comments.node_ids import site_of
from chalicelib.comments.shapes import Node
from chalicelib.database import Document, in_transaction
from chalicelib.marks import moving
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE

_AT_ONCE = 100
_ADDED = ("up", "down", "flags")


def carry(runtime: Runtime, node: Node, to: str) -> int:
    """Carry the entries of a node to the id that it has now; return how many."""
    entries, carried = ENTRIES.of(runtime.database), 0
    site = site_of(to) or DEFAULT_SITE

    def work(session: ClientSession) -> int:
        rows = list(entries.find(all_of(node, node["site"]), session=session).limit(_AT_ONCE))
        if not rows:
            return 0
        moved = [_with_marks(runtime, row, _key(row, to, site), session) for row in rows]
        entries.bulk_write([_merged(row, to, site) for row in moved], session=session)
        ids = [row["_id"] for row in rows]
        entries.delete_many({"site": node["site"], "_id": {"$in": ids}}, session=session)
        return len(rows)

    while moved := in_transaction(runtime.database, work):
        carried += moved
    return carried


def _with_marks(runtime: Runtime, row: Entry, to: Document, session: ClientSession) -> Entry:
    """Carry the marks of an entry to another; return it with what is counted of those."""
    by = moving.carry(runtime.database, KIND, thing_id(row), thing_id(to), session)
    reactions = {**row["reactions"]}
    for key, number in by.reactions:
        reactions[key] = reactions.get(key, 0) + number
    counts = {"up": row["up"] + by.up, "down": row["down"] + by.down}
    flags = {"flags": row["flags"] + by.flags} if "flags" in row else {}
    return cast("Entry", {**row, **counts, **flags, "reactions": reactions})


def _key(row: Entry, to: str, site: str) -> Document:
    return {"_id": f"{to}/{row['id']}", "site": site}


def _merged(row: Entry, to: str, site: str) -> UpdateOne:
    """Return the write that makes an entry at the new id, or adds its votes to one there."""
    key, values = _key(row, to, site), dict[str, Any](row)
    for name in ("_id", "site", "reactions"):
        values.pop(name)
    counts = {name: values.pop(name) for name in _ADDED if name in values}
    kept: Document = {
        name: {"$ifNull": [f"${name}", {"$literal": value}]} for name, value in values.items()
    }
    kept["node_id"] = {"$literal": to}
    kept |= {name: _sum(name, number) for name, number in counts.items()}
    reactions = {key: _sum(f"reactions.{key}", n) for key, n in row["reactions"].items()}
    kept["reactions"] = {"$mergeObjects": ["$reactions", reactions]}
    return UpdateOne(key, [{"$set": kept}, *rank_stages()], upsert=True)


def _sum(name: str, number: int) -> Document:
    return {"$add": [{"$ifNull": [f"${name}", 0]}, number]}
