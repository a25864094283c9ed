"""A row of the access matrix."""

from dataclasses import dataclass, field
from typing import Any

from tests.security.support.callers import CALLERS, named
from tests.security.support.world import Maker

# What every call answers that only who has the site may make.
OWNERS = {200: "owners_of_the_site", 401: "anonymous", 403: "*"}


@dataclass(frozen=True)
class Row:
    """One call; `title` says which thing it is about, where a route has several rows."""

    call: str
    expected: dict[int, str]
    title: str = ""
    body: dict[str, Any] | None = None
    # Sent as it is, in place of a body of JSON.
    data: bytes = b""
    query: str = ""
    made: Maker | None = None
    path: dict[str, str] = field(default_factory=dict)
    # What If-Match names.
    version: int | None = None

    def __str__(self) -> str:
        return f"{self.call} {self.title}".strip()


def expected_of(row: Row) -> dict[str, int]:
    """Return the status for each caller; callers that the row does not name get that of `*`."""
    stated = {
        caller: status
        for status, text in row.expected.items()
        if text != "*"
        for caller in named(text)
    }
    others = [status for status, text in row.expected.items() if text == "*"]
    assert len(others) <= 1
    return dict.fromkeys(CALLERS, *others) | stated if others else stated
