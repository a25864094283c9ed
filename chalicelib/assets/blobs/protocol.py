"""What a store of blobs does, and what is made of it alone: copying, hashing and writing."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from chalicelib.assets.ranges import MOST_BYTES
from chalicelib.assets.shapes import StoreName


class BlobGone(Exception):
    """The blob, or a piece of it, is not there."""


class PartAddress(NamedTuple):
    """Where a part of an upload goes, by PUT, with these headers."""

    url: str
    headers: Mapping[str, str]


class Blobs(Protocol):
    """A store of blobs. Every call may be repeated, and repairs what a crash has left.

    A blob's bytes never change: a part that is stored stays as it is, whatever is sent again. Parts
    are numbered from 0 and have `part_bytes`, but for the last.
    """

    name: StoreName
    part_bytes: int
    max_bytes: int
    # Whether clients send parts to the store itself, which holds them to their SHA-256.
    needs_digests: bool

    def begin(self, blob: str, media_type: str) -> str:
        """Begin a blob; return the handle that its parts are sent with."""
        ...

    def addresses(self, blob: str, handle: str, digests: Sequence[str]) -> list[PartAddress]:
        """Return where a client sends each part itself; empty if parts come through this API.

        `digests` are the SHA-256 of the parts, in hexadecimals, to which the store holds them.
        """
        ...

    def part(self, blob: str, handle: str, number: int, data: bytes) -> None:
        """Store a part."""
        ...

    def present(self, blob: str, handle: str, length: int) -> set[int]:
        """Return the numbers of the parts that are whole, of a blob of `length` bytes."""
        ...

    def finish(self, blob: str, handle: str, length: int) -> None:
        """Make all parts one blob; raises BlobGone if one is missing."""
        ...

    def read(self, blob: str, start: int, end: int) -> bytes:
        """Return bytes of a finished or unfinished blob; raises BlobGone."""
        ...

    def is_checked(self, length: int) -> bool:
        """Return whether a finished upload of this length is read once more, and hashed."""
        ...

    def reading_address(self, blob: str, media_type: str, disposition: str) -> str | None:
        """Return where readers are sent for the bytes; None if they come through this API."""
        ...

    def drop(self, blob: str) -> None:
        """Remove a blob, finished or not, if it is there."""
        ...


def part_count(blobs: Blobs, length: int) -> int:
    """Return how many parts a blob has."""
    return -(-length // blobs.part_bytes)


def part_length(blobs: Blobs, number: int, length: int) -> int:
    """Return how many bytes a part has; zero or less beyond the last."""
    return min(blobs.part_bytes, length - number * blobs.part_bytes)


def pieces(blobs: Blobs, blob: str, length: int) -> Iterator[bytes]:
    """Give a blob's bytes, 4 MiB at a time; raises BlobGone."""
    for start in range(0, length, MOST_BYTES):
        yield blobs.read(blob, start, min(length, start + MOST_BYTES))


def hash_of(content: Iterable[bytes]) -> str:
    """Return the SHA-256 of bytes, in hexadecimals."""
    digest = hashlib.sha256()
    for each in content:
        digest.update(each)
    return digest.hexdigest()


def write(blobs: Blobs, blob: str, media_type: str, content: Iterable[bytes], length: int) -> None:
    """Write a whole blob; what another attempt has written of it stays."""
    handle = blobs.begin(blob, media_type)
    for number, data in enumerate(_in_parts(content, blobs.part_bytes)):
        blobs.part(blob, handle, number, data)
    blobs.finish(blob, handle, length)


def _in_parts(content: Iterable[bytes], part_bytes: int) -> Iterator[bytes]:
    """Give the bytes anew, in parts."""
    held = bytearray()
    for each in content:
        held += each
        while len(held) >= part_bytes:
            yield bytes(held[:part_bytes])
            del held[:part_bytes]
    if held:
        yield bytes(held)
