"""Runs of an import by the API: a worker tries or applies the file, and stops on request.

The lease of the site's import (`comments.importing.lease`) admits one worker at a time, and stores
the progress through the file. The transfer's row names the file and stores the outcome.
"""

import errno
import sqlite3
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, cast

from pymongo import ReturnDocument

from chalicelib import deadlines
from chalicelib.assets.blobs import BlobGone
from chalicelib.comments.errors import ImportRunning
from chalicelib.comments.importing import running
from chalicelib.comments.importing.formats.detection import HEAD_BYTES, PARSERS, detect
from chalicelib.comments.importing.identities import PageAddresses, old_key
from chalicelib.comments.importing.lease import ImportTakenOver
from chalicelib.comments.importing.rows import IMPORTS, Import
from chalicelib.comments.importing.running import ImportOrder, ImportProgress
from chalicelib.comments.importing.shapes import Item
from chalicelib.comments.transfers import files
from chalicelib.comments.transfers.endings import end, fail
from chalicelib.comments.transfers.files import StoreOutage, UploadStream
from chalicelib.comments.transfers.messages import RunTransfer
from chalicelib.comments.transfers.rows import (
    FILE_KEPT,
    RUNNING,
    TRANSFERS,
    DiscussionTransfer,
    key_of,
)
from chalicelib.database import Document
from chalicelib.foreign.broken import BrokenFile
from chalicelib.jobs.resending import lease_end
from chalicelib.runtime import Runtime

# A run ends well before its function's time limit.
RUN_SECONDS, _KEPT_SECONDS = 600.0, 120.0
_MOST_TRIES = 5
_LATEST_DETAIL = 500


def run(runtime: Runtime, row: DiscussionTransfer) -> None:
    """Continue an import, and send a message for the rest; raises Unavailable."""
    taken = _take(runtime, row)
    if taken is None:
        return
    if taken["tries"] > _MOST_TRIES:
        fail(runtime, taken, "gave_up", "The import was ended too often without any progress")
        return
    try:
        _run(runtime, taken)
    except (ImportRunning, ImportTakenOver):
        # Another worker has it, or an import by another way has the site.
        _wait(runtime, taken)
    except StoreOutage:
        _wait(runtime, taken)
        raise
    except BrokenFile as broken:
        fail(runtime, taken, "broken_file", str(broken)[:_LATEST_DETAIL])
    except BlobGone:
        fail(runtime, taken, "file_gone", "The file is not stored any more")
    except sqlite3.Error:
        fail(runtime, taken, "too_large", "The file does not fit on the disk of a worker")
    except OSError as fault:
        if fault.errno != errno.ENOSPC:
            raise
        fail(runtime, taken, "too_large", "The file does not fit on the disk of a worker")


def _run(runtime: Runtime, row: DiscussionTransfer) -> None:
    done = _find_report(runtime, row)
    if done is None:
        file = files.open_upload(runtime, row)
        name = row["format"] or _detect(file)
        if name is None:
            fail(runtime, row, "unknown_format", "The beginning of the file tells no format")
            return
        wanted = _order(row, name)
        done = _bring(runtime, row, wanted, file)
    if done is None:
        runtime.queues.send(RunTransfer(site=row["site"], transfer=row["_id"]))
    else:
        _end(runtime, row, done)


def _bring(
    runtime: Runtime, row: DiscussionTransfer, wanted: ImportOrder, file: UploadStream
) -> Import | None:
    """Continue the import of a file; return the import once it ends. None: the rest is to come."""

    def read() -> Iterator[Item]:
        file.seek(0)
        return PARSERS[wanted.format](cast("BinaryIO", file))

    watch = _Watch(runtime, row, file)
    found = running.run(runtime, wanted, read, watch.tell, watch.goes_on, watch.stops)
    if found["status"] == "done":
        return found
    return running.stop(runtime, wanted) if watch.stops() else None


class _Watch:
    """The watch of a run: it stores progress, and ends the run in time or on a stop request."""

    def __init__(self, runtime: Runtime, row: DiscussionTransfer, file: UploadStream) -> None:
        self._runtime = runtime
        self._row = row
        self._file = file
        seconds = min(RUN_SECONDS, deadlines.remaining() - _KEPT_SECONDS)
        self._ends = time.monotonic() + seconds
        self._is_stopping = row.get("is_stopping", False)

    def tell(self, progress: ImportProgress) -> None:
        is_reading = progress.part == "reading"
        done = {"done": self._file.tell()} if is_reading else {}
        # Only new progress resets the tries: a crash that recurs at one place reaches the limit.
        tries = {"tries": 0} if progress.is_new else {}
        fields = {**done, **tries, "due": lease_end(self._runtime)}
        found = TRANSFERS.of(self._runtime.database).find_one_and_update(
            {**key_of(self._row), **RUNNING}, {"$set": fields}, {"is_stopping": 1}
        )
        self._is_stopping = bool(found and found.get("is_stopping"))

    def stops(self) -> bool:
        return self._is_stopping

    def goes_on(self) -> bool:
        return not self._is_stopping and time.monotonic() < self._ends


def _take(runtime: Runtime, row: DiscussionTransfer) -> DiscussionTransfer | None:
    """Count one more try of a running import, and return it; None: it is over."""
    return TRANSFERS.of(runtime.database).find_one_and_update(
        {**key_of(row), **RUNNING},
        {"$inc": {"tries": 1}, "$set": {"due": lease_end(runtime), "resends": 0}},
        return_document=ReturnDocument.AFTER,
    )


def _wait(runtime: Runtime, row: DiscussionTransfer) -> None:
    """Leave an import to the sweep, which sends its message again; this try does not count."""
    waits = {"$inc": {"tries": -1}, "$set": {"due": lease_end(runtime)}}
    TRANSFERS.of(runtime.database).update_one({**key_of(row), **RUNNING}, waits)


def _find_report(runtime: Runtime, row: DiscussionTransfer) -> Import | None:
    """Return the report of an ended import, if a crash left its row running; or None."""
    same: Document = {"digest": row["_id"], "is_dry_run": row["is_dry_run"], "status": "done"}
    return IMPORTS.of(runtime.database).find_one({"_id": row["site"], **same})


def _detect(file: UploadStream) -> str | None:
    file.seek(0)
    return detect(file.read(HEAD_BYTES))


def _order(row: DiscussionTransfer, name: str) -> ImportOrder:
    moved = {}
    for page in row["moved"]:
        # Skip an invalid address: no page of the file has it.
        with suppress(ValueError):
            moved[old_key(page["old"])] = page["new"]
    addresses = PageAddresses(row["base"], moved)
    return ImportOrder(row["site"], name, row["_id"], addresses, row["is_dry_run"])


def _end(runtime: Runtime, row: DiscussionTransfer, done: Import) -> None:
    """Store the report of an import that is over, and end it.

    A dry run becomes `tried` instead, and its file stays for a week, unless its publisher stops it.
    """
    report: Document = {
        "format": done["format"],
        "counts": done["counts"],
        "samples": done["samples"],
    }
    rows, of_run = TRANSFERS.of(runtime.database), {**key_of(row), **RUNNING}
    if row["is_dry_run"]:
        fields = {**report, "state": "tried", "kept_until": runtime.now() + FILE_KEPT}
        goes_on = {**of_run, "is_dry_run": True, "is_stopping": None}
        if rows.update_one(goes_on, {"$set": fields, "$unset": {"due": ""}}).matched_count:
            return
    is_stopping = rows.find_one({**of_run, "is_stopping": True}, {"_id": 1}) is not None
    if is_stopping or not row["is_dry_run"]:
        end(runtime, row, "stopped" if is_stopping else "done", report)
