"""Temporary stores on disk for values that an import reads before it needs them."""

import json
import sqlite3
import tempfile
from collections.abc import Iterator
from hashlib import blake2b
from types import TracebackType
from typing import Any, Self

# The memory of one spool; the rest goes to the disk.
_MAX_BYTES_IN_MEMORY = 1 << 20


class Spool:
    """JSON values in the order of `add`, until `take` has yielded them all."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(_MAX_BYTES_IN_MEMORY)  # noqa: SIM115
        self._is_empty = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, value: Any) -> None:
        """Append a value of JSON."""
        self._file.write(json.dumps(value).encode() + b"\n")
        self._is_empty = False

    def take(self) -> Iterator[Any]:
        """Yield the values in order; after the last one, empty the spool."""
        if self._is_empty:
            return
        self._file.seek(0)
        for line in self._file:
            yield json.loads(line)
        self._file.seek(0)
        self._file.truncate()
        self._is_empty = True


class Shelf:
    """Values by their keys, in a temporary database; the first value of a key stays."""

    def __init__(self) -> None:
        # With an empty name, SQLite makes a temporary file and removes it at `close`.
        self._rows = sqlite3.connect("")
        self._rows.execute("CREATE TABLE row (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._rows.close()

    def put(self, key: str, value: Any) -> None:
        """Store a JSON value under a key, unless the key has one."""
        self._rows.execute("INSERT OR IGNORE INTO row VALUES (?, ?)", (key, json.dumps(value)))

    def get(self, key: str) -> Any:
        """Return the value of a key, or None."""
        row = self._rows.execute("SELECT value FROM row WHERE key = ?", (key,)).fetchone()
        return None if row is None else json.loads(row[0])


class Seen:
    """A set of keys by 64-bit digests: 100,000 keys take about 10 MB."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def is_new(self, key: str) -> bool:
        """Add a key; return whether it is new."""
        size = len(self._digests)
        self._digests.add(_digest(key))
        return len(self._digests) > size

    def __contains__(self, key: str) -> bool:
        return _digest(key) in self._digests


def _digest(key: str) -> bytes:
    return blake2b(key.encode(), digest_size=8).digest()
