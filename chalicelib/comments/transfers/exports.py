"""Exports by the API: a worker writes gzip files, which publishers download.

A run that crashes leaves no usable file: the next run starts over with new files.
"""

import gzip
import itertools
import json
import tempfile
from collections.abc import Iterable, Iterator
from datetime import timedelta
from functools import partial
from typing import IO

from chalicelib import deadlines
from chalicelib.assets.blobs import store_of, write
from chalicelib.comments.importing import exporting, wxr
from chalicelib.comments.transfers import files
from chalicelib.comments.transfers.endings import end, fail
from chalicelib.comments.transfers.rows import (
    FILE_KEPT,
    MAX_FILES,
    TRANSFERS,
    WORK,
    DiscussionTransfer,
    TransferFile,
    key_of,
)
from chalicelib.database import Document
from chalicelib.ids import new_id
from chalicelib.runtime import Runtime

# The disk of a function has 512 MB.
MOST_DISK_BYTES = 400 * 1024 * 1024
_MOST_TRIES = 3
_KEPT_SECONDS = 120.0
_LINES_AT_ONCE = 1_000
_PIECE_BYTES = 1 << 20
_ENDINGS = {"plaza": "ndjson.gz", "wxr": "xml.gz"}
_TOO_LARGE = "The site is too large for a worker: use the command `export` of script/plaza"
# The time that files stay after a later export: a publisher may be reading them.
_FORMER_KEPT = timedelta(hours=1)


class _TooLarge(Exception):
    """A file exceeds the disk or the store, or the export exceeds MAX_FILES or a run's time."""


class _TakenOver(Exception):
    """Another worker has the export."""


def run(runtime: Runtime, row: DiscussionTransfer) -> None:
    """Write the files of an export that no other worker has; raises Unavailable."""
    taken = _take(runtime, row)
    if taken is None:
        return
    if taken["tries"] > _MOST_TRIES:
        fail(runtime, taken, "gave_up", "The export was ended too often")
        return
    writing = _Writing(runtime, taken)
    try:
        _write_all(runtime, writing)
    except _TooLarge:
        fail(runtime, taken, "too_large", _TOO_LARGE)
    except _TakenOver:
        return
    else:
        counts = {"comments": writing.comments}
        kept = {"counts": counts, "kept_until": runtime.now() + FILE_KEPT}
        if end(runtime, taken, "done", kept):
            _replace_former(runtime, taken)


def _replace_former(runtime: Runtime, row: DiscussionTransfer) -> None:
    """Expire a site's former exports in this format within an hour: no quota counts their files."""
    same: Document = {"site": row["site"], "kind": "export", "format": row["format"]}
    former = {**same, "_id": {"$ne": row["_id"]}, "kept_until": {"$exists": True}}
    soon = {"$min": {"kept_until": runtime.now() + _FORMER_KEPT}}
    TRANSFERS.of(runtime.database).update_many(former, soon)


class _Writing:
    """A worker's run of an export: it stores the files while the worker has the lease."""

    def __init__(self, runtime: Runtime, row: DiscussionTransfer) -> None:
        self.runtime = runtime
        self.row = row
        self.comments = 0
        self._count = 0

    def count(self, lines: Iterable[exporting.Line]) -> Iterator[exporting.Line]:
        """Yield the lines, and extend the lease now and then; raises _TooLarge and _TakenOver."""
        for number, line in enumerate(lines, 1):
            self.comments += line["kind"] == "comment"
            if number % _LINES_AT_ONCE == 0:
                self.keep({"$set": {"done": self.comments}})
            yield line

    def keep(self, change: Document) -> None:
        """Extend the lease, with a change of the row.

        Raises _TooLarge if too little time remains, and _TakenOver if another worker has the row.
        """
        if deadlines.remaining() < _KEPT_SECONDS:
            raise _TooLarge
        if not WORK.renew(self.runtime, self.row, change):
            raise _TakenOver

    def store(self, content: IO[bytes]) -> None:
        """Store the next file; the row names it before its first byte is there."""
        length = content.seek(0, 2)
        blobs = store_of(self.runtime, self.row["store"])
        self._count += 1
        if length > blobs.max_bytes or self._count > MAX_FILES:
            raise _TooLarge
        file: TransferFile = {
            "blob": new_id(self.runtime.now(), self.runtime.random),
            "handle": "",
            "name": _name(self.row, self._count),
            "length": length,
        }
        self.keep({"$push": {"files": file}})
        content.seek(0)
        pieces = iter(partial(content.read, _PIECE_BYTES), b"")
        write(blobs, file["blob"], files.MEDIA_TYPE, self._keeping(pieces), length)

    def _keeping(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self.keep({})
            yield piece


def _write_all(runtime: Runtime, writing: _Writing) -> None:
    site = writing.row["site"]
    lines = writing.count(exporting.lines_of(runtime, site))
    if writing.row["format"] == "wxr":
        parts = wxr.parts_of(lines, partial(wxr.html_of, runtime, site), wxr.MAX_FILE_BYTES)
    else:
        encoded = (json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
        parts = (wxr.FilePart(1, content) for content in encoded)
    for _, of_file in itertools.groupby(parts, key=lambda part: part.file):
        with tempfile.TemporaryFile() as spool:
            _pack(spool, (part.content for part in of_file))
            writing.store(spool)


def _pack(spool: IO[bytes], parts: Iterable[bytes]) -> None:
    """Write a file compressed; raises _TooLarge."""
    with gzip.open(spool, "wb") as packed:
        for part in parts:
            packed.write(part)
            _check(spool)
    # The close of the gzip file writes its last bytes.
    _check(spool)


def _check(spool: IO[bytes]) -> None:
    if spool.tell() > MOST_DISK_BYTES:
        raise _TooLarge


def _name(row: DiscussionTransfer, number: int) -> str:
    part = f"-{number}" if number > 1 else ""
    return f"{row['site']}{part}.{_ENDINGS[row['format'] or 'plaza']}"


def _take(runtime: Runtime, row: DiscussionTransfer) -> DiscussionTransfer | None:
    """Lease an export and remove the files of its last run; None: it is over, or leased."""
    found = WORK.take(runtime, key_of(row), {"$inc": {"tries": 1}})
    if found is not None and found["files"]:
        files.drop_all(runtime, found)
        TRANSFERS.of(runtime.database).update_one(WORK.own(found), {"$set": {"files": []}})
        found["files"] = []
    return found
