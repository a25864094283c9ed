"""Files of transfers in the store of blobs: in the deployment's bucket, or else in the database."""

from collections.abc import Callable, Sequence

from chalicelib.assets.blobs import Blobs, part_count, store_of
from chalicelib.assets.ranges import MOST_BYTES
from chalicelib.assets.shapes import StoreName
from chalicelib.comments.transfers.rows import DiscussionTransfer, TransferFile
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime

MEDIA_TYPE = "application/octet-stream"


class StoreOutage(Unavailable):
    """The store of files does not answer; the file itself may be intact."""


def store_name(runtime: Runtime) -> StoreName:
    """Return the store of new files."""
    return "s3" if runtime.settings.asset_bucket else "gridfs"


def upload_of(row: DiscussionTransfer) -> TransferFile:
    """Return the file that an import reads."""
    return row["files"][0]


def missing_parts(blobs: Blobs, file: TransferFile) -> Sequence[int]:
    """Return the numbers of an upload's missing parts, from 1 on."""
    stored = blobs.present(file["blob"], file["handle"], file["length"])
    return [
        number + 1 for number in range(part_count(blobs, file["length"])) if number not in stored
    ]


def open_upload(runtime: Runtime, row: DiscussionTransfer) -> "UploadStream":
    """Return an import's file as a stream; its reads raise BlobGone and StoreOutage."""
    blobs, file = store_of(runtime, row["store"]), upload_of(row)

    def read(start: int, end: int) -> bytes:
        try:
            return blobs.read(file["blob"], start, end)
        except Unavailable as failure:
            raise StoreOutage from failure

    return UploadStream(read, file["length"])


def drop_all(runtime: Runtime, row: DiscussionTransfer) -> None:
    """Remove the files of a transfer from their store."""
    blobs = store_of(runtime, row["store"])
    for file in row["files"]:
        blobs.drop(file["blob"])


class UploadStream:
    """A stored file as a stream of bytes, with one piece of up to 4 MiB in memory."""

    def __init__(self, read_range: Callable[[int, int], bytes], length: int) -> None:
        self._read_range = read_range
        self._length = length
        self._at = 0
        self._piece, self._piece_start = b"", 0

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes, or all that are left; empty at the end."""
        wanted = self._length - self._at if size < 0 else size
        found: list[bytes] = []
        while wanted > 0 and self._at < self._length:
            start = self._at - self._piece_start
            if not 0 <= start < len(self._piece):
                end = min(self._length, self._at + MOST_BYTES)
                self._piece, self._piece_start = self._read_range(self._at, end), self._at
                start = 0
            part = self._piece[start : start + wanted]
            found.append(part)
            self._at += len(part)
            wanted -= len(part)
        return b"".join(found)

    def seek(self, offset: int) -> None:
        """Set the offset of the next read, in bytes from the beginning."""
        self._at = offset

    def tell(self) -> int:
        """Return the offset of the next read, in bytes."""
        return self._at
