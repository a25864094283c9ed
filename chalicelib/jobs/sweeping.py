"""Sweeps: a schedule finds the documents whose time has come, and does their work itself.

Each run handles a bounded number, the longest overdue first, and ends before the function does.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from pymongo import ASCENDING

from chalicelib import deadlines
from chalicelib.database import Collection, Document
from chalicelib.observability import metrics
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

Row = TypeVar("Row", bound=Mapping[str, Any])


@dataclass(frozen=True)
class Sweep(Generic[Row]):
    """The documents of a collection that a schedule handles.

    - `at`: the path of their time; a document without a time is never due.
    - `after`: how long after that time they are due.
    - `where`: a further condition.
    - `fields`: the projection; it includes `at`.
    """

    collection: Collection[Row]
    at: str
    after: timedelta = timedelta()
    where: Document = field(default_factory=dict)
    fields: Document | None = None

    def find(self, runtime: Runtime, most: int, until: datetime | None = None) -> Iterator[Row]:
        """Yield due documents, the longest overdue first; log their number and the longest wait.

        Ends at `until`, or after half of the invocation's remaining time: other sweeps follow.
        """
        rows, has_time = self.collection.of(runtime.database), deadlines.share(0.5)
        due = rows.find(self.due_filter(runtime), self.fields)
        found = list(due.sort(self.at, ASCENDING).limit(most))
        if found:
            lag = runtime.now() - self.after - _time_of(found[0], self.at)
            log_lag(rows.name, len(found), lag)
        for row in found:
            if not has_time() or (until is not None and runtime.now() >= until):
                return
            yield row

    def due_filter(self, runtime: Runtime) -> Document:
        """Return the filter of due documents; `$type` lets MongoDB use most partial indexes."""
        times = {"$type": "date", "$lte": runtime.now() - self.after}
        return {**self.where, self.at: {**self.where.get(self.at, {}), **times}}

    def take(self, runtime: Runtime, row: Row, lease: timedelta) -> bool:
        """Move a document's time to a lease's end; the document is due `self.after` after that.

        False: another sweep took it, or its time has changed.
        """
        as_read = {"_id": row["_id"], self.at: _time_of(row, self.at)}
        later = {"$set": {self.at: runtime.now() + lease}}
        return self.collection.of(runtime.database).update_one(as_read, later).matched_count == 1


def log_lag(work: str, owed: int, lag: timedelta) -> None:
    """Log the number of overdue documents of a collection, and the longest wait."""
    fields = {"work": work, "owed": owed, "owed_seconds": round(lag.total_seconds())}
    log.info("owed work", extra={"fields": fields, "metrics": metrics.OWED})


def _time_of(row: Mapping[str, Any], path: str) -> datetime:
    found: Any = row
    for name in path.split("."):
        found = found[name]
    return found  # type: ignore[no-any-return]
