"""Bytes of a file as characters: uncompressed, in the file's encoding, in chunks."""

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from typing import BinaryIO, cast

from chalicelib.foreign.broken import BrokenFile

CHUNK_BYTES = 1 << 16
# The bound of an uncompressed gzip file: no export is so large, and a tiny file can unpack to more.
MAX_UNPACKED_BYTES = 4 << 30
_GZIP = b"\x1f\x8b"
_HEAD_BYTES = 1_024
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"<\?xml\s[^>]*?encoding\s*=\s*[\"']([A-Za-z][A-Za-z0-9._-]{0,40})[\"']")
# Characters that XML 1.0 forbids even as references; WordPress exports them all the same.
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def chunks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of a file in chunks, uncompressed if it is a gzip file.

    Raises BrokenFile for a gzip file that is damaged, cut off, or over `MAX_UNPACKED_BYTES`.
    """
    head = stream.read(CHUNK_BYTES)
    if not head.startswith(_GZIP):
        while head:
            yield head
            head = stream.read(CHUNK_BYTES)
        return
    unpacked = gzip.GzipFile(fileobj=cast("BinaryIO", _Rejoined(head, stream)))
    at = 0
    try:
        while chunk := unpacked.read(CHUNK_BYTES):
            at += len(chunk)
            if at > MAX_UNPACKED_BYTES:
                raise BrokenFile(f"byte {at}", "the gzip file is too large, uncompressed")
            yield chunk
    except (EOFError, OSError, zlib.error) as fault:
        raise BrokenFile(f"byte {at}", f"the gzip file ends early or is damaged: {fault}") from None


class _Rejoined:
    """A stream that returns its already read `head` before the rest."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head = head
        self._rest = rest

    def read(self, size: int = -1) -> bytes:
        if not self._head:
            return self._rest.read(size)
        part, self._head = (self._head, b"") if size < 0 else (self._head[:size], self._head[size:])
        return part if size >= 0 else part + self._rest.read()


def uncompressed_head(head: bytes) -> bytes:
    """Return a file's beginning, uncompressed if the file is gzip; empty if it is damaged gzip."""
    if not head.startswith(_GZIP):
        return head
    try:
        return zlib.decompressobj(wbits=31).decompress(head, CHUNK_BYTES)
    except zlib.error:
        return b""


def characters(stream: BinaryIO) -> Iterator[str]:
    """Yield the characters of a file in chunks, in the encoding that the file declares, or UTF-8.

    Raises BrokenFile for an unknown encoding, for invalid bytes, and as `chunks`.
    """
    decoder: codecs.IncrementalDecoder | None = None
    line = 1
    for chunk in chunks(stream):
        if decoder is None:
            decoder = _decoder(chunk[:_HEAD_BYTES])
        yield (text := _decode(decoder, chunk, line))
        line += text.count("\n")
    if decoder is not None:
        yield _decode(decoder, b"", line, is_end=True)


def printable(chunks_of_text: Iterator[str]) -> Iterator[str]:
    """Yield chunks of text without the characters that XML forbids."""
    for chunk in chunks_of_text:
        yield _CONTROLS.sub("", chunk)


def _decode(
    decoder: codecs.IncrementalDecoder, chunk: bytes, line: int, *, is_end: bool = False
) -> str:
    try:
        return decoder.decode(chunk, is_end)
    except UnicodeDecodeError as fault:
        before = fault.object[: fault.start].count(b"\n")
        detail = f"byte {fault.object[fault.start]:#04x} is not {fault.encoding}"
        raise BrokenFile(f"line {line + before}", detail) from None
    except UnicodeError as fault:
        raise BrokenFile(f"line {line}", str(fault)) from None


def _decoder(head: bytes) -> codecs.IncrementalDecoder:
    named = next((name for mark, name in _BYTE_ORDER_MARKS if head.startswith(mark)), None)
    if named is None and (declared := _DECLARED.match(head.lstrip())):
        named = declared[1].decode("ascii")
    named = named or "utf-8"
    try:
        # Raises LookupError for a codec of bytes, such as `base64`, too.
        "".encode(named)
        return codecs.getincrementaldecoder(named)("strict")
    except (LookupError, ValueError):
        raise BrokenFile("line 1", f"the encoding {named} is unknown") from None
