"""Blobs in GridFS: chunks of 256 KiB in MongoDB, read by their numbers.

Plaza does not use the driver's own bucket. The driver stores a file's document after its chunks, so
a killed upload leaves chunks without a known file; and its stream reads past the end of a range.
Files and chunks follow the specification of GridFS, so that every tool reads them.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from pymongo import ASCENDING
from pymongo.database import Database

from chalicelib.assets.blobs.protocol import BlobGone, PartAddress
from chalicelib.assets.ranges import MOST_BYTES
from chalicelib.assets.shapes import CHUNKS, FILES, Chunk, File, StoreName
from chalicelib.database import Document, insert_missing

CHUNK_BYTES = 262_144
# Lambda's events and answers have at most 6,291,556 bytes; a part in base64 has 5,592,408.
PART_BYTES = 16 * CHUNK_BYTES
MAX_BYTES = 64 * 1024 * 1024


class GridFsBlobs:
    """Blobs in `asset.files` and `asset.chunks`."""

    name: StoreName = "gridfs"
    part_bytes = PART_BYTES
    max_bytes = MAX_BYTES
    max_picture_bytes = MOST_BYTES
    needs_digests = False

    def __init__(self, database: Database[Document], now: Callable[[], datetime]) -> None:
        self._chunks = CHUNKS.of(database)
        self._files = FILES.of(database)
        self._read: Any = CHUNKS.read_as(Document, database)
        self._now = now

    def begin(self, blob: str, media_type: str) -> str:
        """Begin a blob; stores nothing before its first part."""
        del blob, media_type
        return ""

    def addresses(self, blob: str, handle: str, digests: Sequence[str]) -> list[PartAddress]:
        """Return nothing: parts come through this API."""
        del blob, handle, digests
        return []

    def part(self, blob: str, handle: str, number: int, data: bytes) -> None:
        """Insert the missing chunks of a part."""
        del handle
        first = number * PART_BYTES // CHUNK_BYTES
        starts = range(0, len(data), CHUNK_BYTES)
        chunks: list[Chunk] = [
            {
                "_id": f"{blob}:{n}",
                "files_id": blob,
                "n": n,
                "data": data[start : start + CHUNK_BYTES],
            }
            for n, start in enumerate(starts, first)
        ]
        insert_missing(self._chunks, chunks)

    def present(self, blob: str, handle: str, length: int) -> set[int]:
        """Return the numbers of the parts with all chunks."""
        del handle
        found = self._read.find({"files_id": blob}, {"n": 1, "_id": 0})
        there = {row["n"] for row in found}
        chunks = range(-(-length // CHUNK_BYTES))
        missing = {n * CHUNK_BYTES // PART_BYTES for n in chunks if n not in there}
        return set(range(-(-length // PART_BYTES))) - missing

    def finish(self, blob: str, handle: str, length: int) -> None:
        """Insert the file's document; raises BlobGone if a part is missing."""
        if len(self.present(blob, handle, length)) < -(-length // PART_BYTES):
            raise BlobGone(blob)
        file: File = {
            "_id": blob,
            "length": length,
            "chunkSize": CHUNK_BYTES,
            "uploadDate": self._now(),
        }
        insert_missing(self._files, [file])

    def read(self, blob: str, start: int, end: int) -> bytes:
        """Return bytes, by one query for their chunks; raises BlobGone."""
        first, last = start // CHUNK_BYTES, (end - 1) // CHUNK_BYTES
        found = self._read.find(
            {"files_id": blob, "n": {"$gte": first, "$lte": last}}, {"data": 1, "_id": 0}
        )
        content = b"".join(row["data"] for row in found.sort("n", ASCENDING))
        wanted = content[start - first * CHUNK_BYTES : end - first * CHUNK_BYTES]
        if len(wanted) < end - start:
            raise BlobGone(blob)
        return wanted

    def is_checked(self, length: int) -> bool:
        """Return True: every blob of this store is small enough to read again."""
        del length
        return True

    def reading_address(self, blob: str, media_type: str, disposition: str) -> str | None:
        """Return None: the bytes come through this API."""
        del blob, media_type, disposition
        return None

    def drop(self, blob: str) -> None:
        """Delete the chunks, and then the file's document."""
        self._chunks.delete_many({"files_id": blob})
        self._files.delete_one({"_id": blob})

    def names(self) -> Iterator[str]:
        """Yield the ids of the finished blobs, sorted."""
        return (each["_id"] for each in self._files.find({}, {"_id": 1}).sort("_id"))
