"""The end of the process before or after a chosen write."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pymongo.collection import Collection

_WRITES = (
    *("insert_one", "insert_many", "update_one", "update_many", "replace_one"),
    *("delete_one", "delete_many", "find_one_and_update", "find_one_and_delete", "bulk_write"),
)


class Crash(BaseException):
    """The process ends here: nothing after it runs, not even what handles exceptions."""


@contextmanager
def crash_at_write(number: int, *, is_after: bool) -> Iterator[list[int]]:
    """End the process at its write of this number; give a list of the writes that were reached."""
    reached: list[int] = []

    def patched(write: Any) -> Any:
        def counted(*arguments: Any, **named: Any) -> Any:
            reached.append(len(reached))
            if len(reached) - 1 == number:
                if is_after:
                    write(*arguments, **named)
                raise Crash
            return write(*arguments, **named)

        return counted

    with pytest.MonkeyPatch.context() as patch:
        for name in _WRITES:
            patch.setattr(Collection, name, patched(getattr(Collection, name)))
        yield reached
