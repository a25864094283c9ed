"""Many rows in one page: each is tried, and all that fail are told at once."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Row = TypeVar("Row")
# Each failure may wait for its whole time: more of them tell nothing new.
_MOST_FAILURES = 3


def failing(rows: Iterable[Row], check: Callable[[Row], None]) -> list[str]:
    """Return the rows of which a check fails, with its reason; the first few where most do."""
    found: list[str] = []
    for row in rows:
        try:
            check(row)
        except AssertionError as failure:
            found.append(f"{row}: {failure}")
        if len(found) == _MOST_FAILURES:
            break
    return found
