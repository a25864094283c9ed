"""Transport of a moved node's entries to its new id, with their votes.

An entry stays at the old id until its batch, so a crash loses none, and the schedule carries the
rest (`lifecycle.vacancies.sweep`). One transaction carries a batch: it counts no vote twice, and
adds the votes to any that readers gave at the new id in the meantime. A comment with many marks
takes several batches: its counts go with its marks.
"""

from typing import Any, cast

from pymongo import UpdateOne
from pymongo.client_session import ClientSession

from chalicelib.comments import nodes
from chalicelib.comments.entries.kind import KIND, thing_id
from chalicelib.comments.entries.ranking import rank_stages
from chalicelib.comments.entries.rows import ENTRIES, OPTIONAL, WHILE_QUEUED, CommentEntry, all_of
from chalicelib.comments.node_ids import site_of
from chalicelib.comments.shapes import Node
from chalicelib.database import Document, in_transaction
from chalicelib.marks import moving
from chalicelib.marks.changes import Delta
from chalicelib.marks.moving import ChangedId
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE

_AT_ONCE = 100
_ADDED = ("up", "down", "flags", "reports")
_QUEUE = ("queue", *WHILE_QUEUED)
# The fields that follow from the comment.
_DECIDED = (
    *("id", "seq", "depth", "posted", "author_id", "state", "root", "queue"),
    *OPTIONAL,
)


def carry(runtime: Runtime, node: Node, to: str) -> int:
    """Carry the entries of a node to its new id; return the number of entries.

    It stops if the old id no longer forwards to the new id.
    """
    entries, carried = ENTRIES.of(runtime.database), 0
    forward = {"_id": node["_id"], "vacant.moved_to": to}
    site = site_of(to) or DEFAULT_SITE

    def work(session: ClientSession) -> tuple[int, bool]:
        # In the same snapshot: else the batch could take entries of the next node at the old id.
        if nodes.NODES.of(runtime.database).find_one(forward, {"_id": 1}, session=session) is None:
            return 0, False
        rows = list(entries.find(all_of(node, node["site"]), session=session).limit(_AT_ONCE))
        whole, writes = [], list[UpdateOne]()
        room = runtime.bounds.marks.carried_at_once
        for row in rows:
            ids = ChangedId(old=thing_id(row), new=thing_id(_key(row, to, site)))
            marks = moving.carry(runtime.database, KIND, ids, room, session)
            room -= marks.marks
            if not room:
                # More marks may remain: the entry stays with their counts.
                writes += [
                    _subtraction(row, marks.left),
                    _merge(_keep_counts(row, marks.arrived), to, site),
                ]
                break
            rest = _add_counts(row, marks.left, -1)
            writes.append(_merge(_add_counts(rest, marks.arrived, 1), to, site))
            whole.append(row["_id"])
        if writes:
            entries.bulk_write(writes, session=session)
            entries.delete_many({"site": node["site"], "_id": {"$in": whole}}, session=session)
        return len(whole), bool(rows)

    has_more = True
    while has_more:
        number, has_more = in_transaction(runtime.database, work)
        carried += number
    return carried


def _add_counts(row: CommentEntry, by: Delta, sign: int) -> CommentEntry:
    """Return an entry with the counts of marks added (`sign` 1) or subtracted (-1)."""
    reactions = {**row["reactions"]}
    for key, number in by.reactions:
        reactions[key] = reactions.get(key, 0) + sign * number
    counts = {"up": row["up"] + sign * by.up, "down": row["down"] + sign * by.down}
    if "flags" in row:
        counts["flags"] = row["flags"] + sign * by.flags
    if "reports" in row:
        counts["reports"] = row["reports"] + sign * by.reports
    kept = {key: number for key, number in reactions.items() if number}
    return cast("CommentEntry", {**row, **counts, "reactions": kept})


def _keep_counts(row: CommentEntry, counts: Delta) -> CommentEntry:
    """Return an entry with the counts of some marks alone."""
    nothing = dict.fromkeys((name for name in _ADDED if name in row), 0)
    return _add_counts(cast("CommentEntry", {**row, **nothing, "reactions": {}}), counts, 1)


def _subtraction(row: CommentEntry, left: Delta) -> UpdateOne:
    """Return the write that subtracts the carried marks at the old id."""
    rest = _add_counts(row, left, -1)
    counts = {name: value for name, value in rest.items() if name in (*_ADDED, "reactions")}
    return UpdateOne({"_id": row["_id"], "site": row["site"]}, {"$set": counts})


def _key(row: CommentEntry, to: str, site: str) -> Document:
    return {"_id": f"{to}/{row['id']}", "site": site}


def _merge(row: CommentEntry, to: str, site: str) -> UpdateOne:
    """Return the write that makes an entry at the new id, or adds the votes to its entry there."""
    key, values = _key(row, to, site), dict[str, Any](row)
    for name in ("_id", "site", "reactions"):
        values.pop(name)
    counts = {name: values.pop(name) for name in _ADDED if name in values}
    kept = {name: _keep(name, value, row) for name, value in values.items()}
    kept["node_id"] = {"$literal": to}
    kept |= {name: _sum(name, number) for name, number in counts.items()}
    reactions = {key: _sum(f"reactions.{key}", n) for key, n in row["reactions"].items()}
    kept["reactions"] = {"$mergeObjects": ["$reactions", reactions]}
    return UpdateOne(key, [{"$set": kept}, *rank_stages()], upsert=True)


def _keep(name: str, value: object, row: CommentEntry) -> Document:
    """Return the expression of a field of `_merge`: its value at the new id, or the carried one."""
    carried: Document = {"$literal": value}
    if name not in _DECIDED:
        return {"$ifNull": [f"${name}", carried]}
    # An entry at the new id is right: a decision or a deletion may have emptied its fields.
    is_carried: Document = {"$eq": [{"$type": "$node_id"}, "missing"]}
    if name in _QUEUE and row["state"] == "visible" and row.get("reports"):
        # Its reports come only now, and queue a comment that is still visible.
        is_unqueued = {"$and": [{"$eq": ["$state", "visible"]}, {"$eq": ["$queue", None]}]}
        is_carried = {"$or": [is_carried, is_unqueued]}
    return {"$cond": [is_carried, carried, f"${name}"]}


def _sum(name: str, number: int) -> Document:
    return {"$add": [{"$ifNull": [f"${name}", 0]}, number]}
