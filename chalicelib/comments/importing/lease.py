"""The lease of a site's import: one worker at a time runs the import; the next worker continues."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeGuard

from pymongo import ReturnDocument
from pymongo.errors import DuplicateKeyError

from chalicelib.comments.errors import ImportRunning
from chalicelib.comments.importing.ordering import ThreadOutcome
from chalicelib.comments.importing.rows import (
    IMPORTS,
    MAX_SAMPLES,
    ROWS_KEPT,
    STAGED,
    THREADS,
    Import,
    ImportSample,
    ImportStatus,
    StagedThread,
)
from chalicelib.database import Document
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime

# Longer than a batch takes: the worker extends it after each.
LEASE = timedelta(minutes=1)
_REMOVED_AT_ONCE = 1_000
_GOES_ON = ROWS_KEPT - timedelta(days=1)


class ImportTakenOver(Exception):
    """Another worker took the import after this worker's lease had expired."""


class Lease:
    """A worker's lease of a site's import; `read` is the import as last stored."""

    def __init__(self, runtime: Runtime, read: Import) -> None:
        self._runtime = runtime
        self.read = read

    @classmethod
    def take(
        cls,
        runtime: Runtime,
        site: str,
        wanted: Mapping[str, str],
        *,
        is_dry_run: bool,
        is_ending: bool = False,
    ) -> "Lease":
        """Begin an import of a site, or continue it; raises ImportRunning.

        wanted: `format` and `digest`. An unfinished import with the same values and the same
        `is_dry_run` continues if it still has its rows, or if `is_ending`. Otherwise a new import
        begins, which removes the rows of the former import.
        """
        found = IMPORTS.of(runtime.database).find_one({"_id": site})
        same = {**wanted, "is_dry_run": is_dry_run}
        goes_on = _is_same(found, same) and (is_ending or _has_rows(found, runtime.now()))
        if found is not None:
            _check_free(runtime, found)
        lease = cls(runtime, _claim(runtime, found, site, {} if goes_on else _new(runtime, same)))
        if found is not None and not goes_on:
            # After the claim only: another worker might have continued with these rows.
            remove_rows(runtime, found["run"], lease.keep)
        return lease

    def keep(self) -> None:
        """Extend the lease; raises ImportTakenOver."""
        self._set({})

    def advance(
        self, position: int, counts: Mapping[str, int], samples: Sequence[ImportSample]
    ) -> None:
        """Store the position in the file, and add the counts and samples since the last position.

        Raises ImportTakenOver.
        """
        sums = Counter(self.read["counts"]) + Counter(counts)
        kept = [*self.read["samples"], *samples][:MAX_SAMPLES]
        self._set({"position": position, "counts": dict(sums), "samples": kept})

    def enter(self, status: ImportStatus) -> None:
        """Store the next status of the import; raises ImportTakenOver."""
        self._set({"status": status})

    def save(self, thread: StagedThread, outcome: ThreadOutcome) -> None:
        """Store a thread's outcome before readers see its comments; raises ImportTakenOver."""
        self.keep()
        fields = {"counts": dict(outcome.counts), "samples": outcome.samples}
        key = {"_id": thread["_id"], "run": thread["run"]}
        THREADS.of(self._runtime.database).update_one(key, {"$set": fields})

    def note_progress(self, thread: StagedThread, settled: int) -> None:
        """Store the number of settled comments of a thread's node, for the next run's progress."""
        key = {"_id": thread["_id"], "run": thread["run"]}
        THREADS.of(self._runtime.database).update_one(key, {"$set": {"settled": settled}})
        thread["settled"] = settled

    def end_thread(self, thread: StagedThread) -> None:
        """Note that a thread is done."""
        key = {"_id": thread["_id"], "run": thread["run"]}
        THREADS.of(self._runtime.database).update_one(key, {"$set": {"is_done": True}})

    def report(self) -> None:
        """Add the outcomes of all done threads, and enter `ending`; raises ImportTakenOver."""
        sums, samples = Counter(self.read["counts"]), list(self.read["samples"])
        of_run = {"run": self.read["run"], "is_done": True}
        found = THREADS.of(self._runtime.database).find(of_run, {"counts": 1, "samples": 1})
        for thread in found.sort("number", 1):
            sums.update(thread["counts"])
            samples += thread["samples"][: MAX_SAMPLES - len(samples)]
        self._set({"counts": dict(sums), "samples": samples, "status": "ending"})

    def give_up(self) -> Import:
        """End the lease and return the import: another run may continue; raises ImportTakenOver."""
        self._set({"leased_until": _NOW})
        return self.read

    def end(self) -> Import:
        """Remove the rows, mark the import as done and return it; raises ImportTakenOver."""
        remove_rows(self._runtime, self.read["run"], self.keep)
        self._set({"status": "done", "ended": self._runtime.now(), "leased_until": _NOW})
        return self.read

    def _set(self, fields: Document) -> None:
        now, site = self._runtime.now(), self.read["_id"]
        until = now if fields.get("leased_until") is _NOW else now + LEASE
        own = {"_id": site, "run": self.read["run"], "taken_by": self.read["taken_by"]}
        stored = IMPORTS.of(self._runtime.database).find_one_and_update(
            own,
            {"$set": {**fields, "leased_until": until}},
            return_document=ReturnDocument.AFTER,
        )
        if stored is None:
            raise ImportTakenOver
        self.read = stored


_NOW = object()


def remove_rows(runtime: Runtime, run: str, keep: Callable[[], None]) -> None:
    """Remove the rows of an import, 1,000 at a time; call `keep` after each step."""
    database = runtime.database
    for rows in (STAGED.of(database), THREADS.of(database)):
        while ids := [
            row["_id"] for row in rows.find({"run": run}, {"_id": 1}).limit(_REMOVED_AT_ONCE)
        ]:
            rows.delete_many({"run": run, "_id": {"$in": ids}})
            keep()


def _claim(runtime: Runtime, found: Import | None, site: str, made: Document) -> Import:
    """Take the lease if the import is as `found`, and store the fields `made` of a new import.

    Raises ImportRunning if another worker took the lease first.
    """
    now = runtime.now()
    # Without a former import nothing matches, and the server refuses the second of two inserts.
    as_read: Document = {"_id": site, "taken_by": found["taken_by"] if found else None}
    taken = {"taken_by": new_id(now, runtime.random), "leased_until": now + LEASE}
    try:
        stored = IMPORTS.of(runtime.database).find_one_and_update(
            as_read,
            {"$set": {**made, **taken}, **({"$unset": {"ended": ""}} if made else {})},
            upsert=True,
            return_document=ReturnDocument.AFTER,
        )
    except DuplicateKeyError:
        # Another worker has taken it in this moment.
        raise ImportRunning from None
    assert stored is not None  # noqa: S101 - it was made if it was not there
    return stored


def _is_same(found: Import | None, same: Mapping[str, object]) -> TypeGuard[Import]:
    if found is None or found["status"] == "done":
        return False
    return all(found.get(name) == value for name, value in same.items())


def _has_rows(found: Import, now: datetime) -> bool:
    """Return whether an import may continue: the TTL removes its rows soon after _GOES_ON."""
    return found["at"] > now - _GOES_ON


def _check_free(runtime: Runtime, found: Import) -> None:
    if found["leased_until"] > runtime.now():
        until = found["leased_until"].isoformat(timespec="seconds")
        raise ImportRunning(facts={"until": until})


def _new(runtime: Runtime, same: Mapping[str, object]) -> Document:
    now = runtime.now()
    return {
        **same,
        "run": new_id(now, runtime.random),
        "at": now,
        "status": "staging",
        "position": 0,
        "counts": {},
        "samples": [],
    }
