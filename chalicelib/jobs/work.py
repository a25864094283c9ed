"""Owed work: rows with a task, each leased to one worker at a time until its task is done.

The call that notes a task sends its message. A schedule sends another while the task is owed, if
the message was lost or its worker has ended.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Generic, TypeVar

from pymongo import ReturnDocument

from chalicelib.database import Collection, Document
from chalicelib.ids import new_id
from chalicelib.jobs import resending
from chalicelib.jobs.resending import Resending, lease_end
from chalicelib.messaging import Message
from chalicelib.runtime import Runtime

Row = TypeVar("Row", bound=Mapping[str, Any])

# Fields of a row only while its task is owed; `due`: the time to send its message again.
WHILE_OWED = ("due", "leased_until", "taken_by", "resends", "resent_by")


@dataclass(frozen=True)
class Work(Generic[Row]):
    """The rows of a collection with a task.

    - `owed`: the condition of rows whose task is not done.
    - `message`: makes the message of a row from its fields `_id` and `made_of`.
    - `key`: the fields that find a row.
    - `fields`: further fields of a row only while its task is owed.
    """

    collection: Collection[Row]
    owed: Document
    message: Callable[[Row], Message]
    key: tuple[str, ...] = ("_id",)
    made_of: str = "_id"
    fields: tuple[str, ...] = ()

    def take(self, runtime: Runtime, key: Document, change: Document | None = None) -> Row | None:
        """Lease an owed row to this worker, with a further change.

        None: no row owes the task, or another worker has the row.
        """
        now = runtime.now()
        free = {"$or": [{"leased_until": None}, {"leased_until": {"$lte": now}}]}
        given = change or {}
        taken = {"taken_by": new_id(now, runtime.random), **_lease(runtime), "resends": 0}
        return self.collection.of(runtime.database).find_one_and_update(
            {**key, **self.owed, **free},
            {**given, "$set": {**given.get("$set", {}), **taken}},
            return_document=ReturnDocument.AFTER,
        )

    def renew(
        self,
        runtime: Runtime,
        row: Row,
        change: Document | None = None,
        unchanged: tuple[str, ...] = (),
    ) -> bool:
        """Extend the lease, with a further change; False if another worker has the row.

        `unchanged`: also False if one of these fields has changed since the lease.
        """
        given = change or {}
        leased = {**given, "$set": {**given.get("$set", {}), **_lease(runtime)}}
        return self._update(runtime, row, leased, _values_at_lease(row, unchanged))

    def release(self, runtime: Runtime, row: Row) -> bool:
        """Leave the task to the next message; return False if another worker has the row."""
        return self._update(runtime, row, {"$unset": {"taken_by": "", "leased_until": ""}})

    def postpone(self, runtime: Runtime, row: Row, until: datetime, fields: Document) -> bool:
        """Set fields, and leave the task to a message at `until`; return False as `release`."""
        gone = {"taken_by": "", "leased_until": ""}
        return self._update(runtime, row, {"$set": {**fields, "due": until}, "$unset": gone})

    def finish(
        self, runtime: Runtime, row: Row, fields: Document, unchanged: tuple[str, ...] = ()
    ) -> bool:
        """End the task, and set fields; return False if another worker has the row.

        `unchanged`: also False if one of these fields has changed since the lease.
        """
        gone = dict.fromkeys((*self.fields, *WHILE_OWED), "")
        ended = {"$set": fields, "$unset": gone}
        return self._update(runtime, row, ended, _values_at_lease(row, unchanged))

    def own(self, row: Row) -> Document:
        """Return the filter that matches a row while it owes the task and no later lease began."""
        of_row = {name: row[name] for name in self.key}
        return {**of_row, **self.owed, "taken_by": row.get("taken_by")}

    def sweep(self, runtime: Runtime) -> None:
        """Send the messages of overdue rows again."""
        rows = self.collection.of(runtime.database)
        resending.sweep(runtime, rows, self._resending, self._messages)

    @cached_property
    def _resending(self) -> Resending:
        return Resending(at="due", made_of=self.made_of, where=self.owed)

    def _messages(self, rows: Iterable[Row]) -> Iterator[Message]:
        return (self.message(row) for row in rows)

    def _update(
        self, runtime: Runtime, row: Row, change: Document, where: Document | None = None
    ) -> bool:
        rows = self.collection.of(runtime.database)
        return rows.update_one({**self.own(row), **(where or {})}, change).matched_count == 1


def _values_at_lease(row: Mapping[str, Any], names: tuple[str, ...]) -> Document:
    return {name: row.get(name) for name in names}


def _lease(runtime: Runtime) -> Document:
    until = lease_end(runtime)
    return {"leased_until": until, "due": until}
