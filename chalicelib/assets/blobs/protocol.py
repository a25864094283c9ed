"""The contract of a store of blobs, and functions on any store: lengths, pieces, writes."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from chalicelib.assets.errors import OtherStore
from chalicelib.assets.kinds import IMAGES
from chalicelib.assets.ranges import MOST_BYTES
from chalicelib.assets.shapes import StoreName
from chalicelib.errors import FieldError, InvalidRequest


class BlobGone(Exception):
    """The blob, or a piece of it, is missing."""


class PartAddress(NamedTuple):
    """The address for the PUT of a part, and its headers."""

    url: str
    headers: Mapping[str, str]


class Blobs(Protocol):
    """A store of blobs. A repeated call is safe, and repairs the remains of a crash.

    A blob's bytes never change: a stored part stays, whatever bytes come for it again. Parts have
    numbers from 0; each but the last has `part_bytes`.
    """

    name: StoreName
    part_bytes: int
    max_bytes: int
    # Pages show a picture by one GET, so the store takes no picture that it cannot answer whole.
    max_picture_bytes: int
    # Whether clients send parts to the store itself, which checks their SHA-256.
    needs_digests: bool

    def begin(self, blob: str, media_type: str) -> str:
        """Begin a blob; return the handle for its parts."""
        ...

    def addresses(self, blob: str, handle: str, digests: Sequence[str]) -> list[PartAddress]:
        """Return the address of each part for a client; empty if parts come through this API.

        `digests` are the SHA-256 of the parts, in hexadecimals; the store refuses other bytes.
        """
        ...

    def part(self, blob: str, handle: str, number: int, data: bytes) -> None:
        """Store a part."""
        ...

    def present(self, blob: str, handle: str, length: int) -> set[int]:
        """Return the numbers of the fully stored parts of a blob of `length` bytes."""
        ...

    def finish(self, blob: str, handle: str, length: int) -> None:
        """Make all parts one blob; raises BlobGone if one is missing."""
        ...

    def read(self, blob: str, start: int, end: int) -> bytes:
        """Return the bytes from `start` on and before `end`; raises BlobGone if some are missing.

        Whether an unfinished blob has bytes depends on the store.
        """
        ...

    def is_checked(self, length: int) -> bool:
        """Return whether the finish of an upload of this length reads and hashes the whole blob."""
        ...

    def reading_address(self, blob: str, media_type: str, disposition: str) -> str | None:
        """Return the address of the bytes for readers; None: they come through this API."""
        ...

    def drop(self, blob: str) -> None:
        """Remove a blob, finished or not; a missing blob is no error."""
        ...

    def names(self) -> Iterator[str]:
        """Yield the ids of all finished blobs."""
        ...


def most_bytes(blobs: Blobs, media_type: str) -> int:
    """Return the limit of a store for files of a type, in bytes."""
    return blobs.max_picture_bytes if media_type in IMAGES else blobs.max_bytes


def part_count(blobs: Blobs, length: int) -> int:
    """Return the number of a blob's parts."""
    return -(-length // blobs.part_bytes)


def part_length(blobs: Blobs, number: int, length: int) -> int:
    """Return the length of a part in bytes; 0 or less beyond the last."""
    return min(blobs.part_bytes, length - number * blobs.part_bytes)


def check_digests(blobs: Blobs, length: int, digests: Sequence[str]) -> None:
    """Raise InvalidRequest if a store needs the SHA-256 of each part, and has not each."""
    count = part_count(blobs, length)
    if blobs.needs_digests and len(digests) != count:
        detail = f"this store needs the SHA-256 of each of the {count} parts"
        raise InvalidRequest(errors=[FieldError("part_sha256", "wrong_number", detail)])


def check_part(blobs: Blobs, number: int, length: int, data: bytes) -> None:
    """Check a part of a blob of `length` bytes; the blob's first part has the number 0.

    Raises OtherStore if parts go to the store itself, and InvalidRequest for a wrong number or
    length.
    """
    if blobs.needs_digests:
        raise OtherStore
    wanted = part_length(blobs, number, length)
    if wanted <= 0:
        detail = f"the file has {part_count(blobs, length)} parts"
        raise InvalidRequest(errors=[FieldError("number", "no_such_part", detail)])
    if len(data) != wanted:
        detail = f"this part has {wanted} bytes, and {len(data)} were sent"
        raise InvalidRequest(errors=[FieldError("", "wrong_length", detail)])


def pieces(blobs: Blobs, blob: str, length: int) -> Iterator[bytes]:
    """Yield a blob's bytes, 4 MiB at a time; raises BlobGone."""
    for start in range(0, length, MOST_BYTES):
        yield blobs.read(blob, start, min(length, start + MOST_BYTES))


def hash_of(content: Iterable[bytes]) -> str:
    """Return the SHA-256 of bytes, in hexadecimals."""
    digest = hashlib.sha256()
    for each in content:
        digest.update(each)
    return digest.hexdigest()


def write(blobs: Blobs, blob: str, media_type: str, content: Iterable[bytes], length: int) -> None:
    """Write a whole blob; parts from another attempt stay."""
    handle = blobs.begin(blob, media_type)
    for number, data in enumerate(_in_parts(content, blobs.part_bytes)):
        blobs.part(blob, handle, number, data)
    blobs.finish(blob, handle, length)


def _in_parts(content: Iterable[bytes], part_bytes: int) -> Iterator[bytes]:
    """Yield the bytes in parts of `part_bytes`; the last may be shorter."""
    held = bytearray()
    for each in content:
        held += each
        while len(held) >= part_bytes:
            yield bytes(held[:part_bytes])
            del held[:part_bytes]
    if held:
        yield bytes(held)
