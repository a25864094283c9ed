"""The collections that any process wrote to, by the log that a replica set replicates from."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bson import Timestamp
from pymongo import DESCENDING
from pymongo.database import Database

from chalicelib.database import Document

# A no-op and a deletion leave no document.
_LEAVES_NOTHING = ["n", "d"]
# A time series has its documents in another collection.
_BUCKETS = "system.buckets."


class WriteLog:
    """The writes of all processes to one database, each read once."""

    def __init__(self) -> None:
        self._read_until: Timestamp | None = None

    def read(self, database: Database[Document]) -> set[str] | None:
        """Return the names that were written to since the last call.

        None: unknown, since this is the first call, the server no longer has the entry at which the
        last call ended, or a collection was renamed.
        """
        log = database.client.get_database("local")["oplog.rs"]
        last = self._read_until
        found = list(log.aggregate(_by_collection(last))) if last else []
        if last is None or not any(each["first"] == last for each in found):
            newest = log.find_one({}, {"ts": 1}, sort=[("$natural", DESCENDING)])
            assert newest is not None
            self._read_until = newest["ts"]
            return None
        self._read_until = max(each["latest"] for each in found)
        new = [each["_id"] for each in found if each["latest"] > last]
        return None if any("renamed" in each for each in new) else set(_names(new, database.name))


def _by_collection(last: Timestamp) -> list[dict[str, Any]]:
    """Return a pipeline: the entries since `last` and that entry itself, by what they write to."""
    writes = {"$or": [{"ts": last}, {"op": {"$nin": _LEAVES_NOTHING}}]}
    written = {
        "ns": "$ns",
        "created": "$o.create",
        "renamed": "$o.renameCollection",
        "in_transaction": "$o.applyOps.ns",
    }
    return [
        {"$match": {"ts": {"$gte": last}, **writes}},
        {"$group": {"_id": written, "first": {"$min": "$ts"}, "latest": {"$max": "$ts"}}},
    ]


def _names(entries: Iterable[Mapping[str, Any]], database: str) -> Iterator[str]:
    """Yield the collections of a database that entries name."""
    prefix = f"{database}."
    for entry in entries:
        if entry["ns"] == f"{prefix}$cmd" and "created" in entry:
            yield entry["created"]
        for name in (entry["ns"], *entry.get("in_transaction", ())):
            if name.startswith(prefix):
                yield name.removeprefix(prefix).removeprefix(_BUCKETS)
