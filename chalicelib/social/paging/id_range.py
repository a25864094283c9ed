"""A range of ids, with a limit."""

from collections.abc import Collection as Ids
from typing import NamedTuple

from chalicelib.database import Document


class IdRange(NamedTuple):
    """The ids greater than `after` and up to `until`, at most `limit` of them."""

    after: str = ""
    until: str | None = None
    limit: int | None = None

    @property
    def bounds(self) -> Document:
        """Return the range as a condition of a query."""
        return {"$gt": self.after} | ({} if self.until is None else {"$lte": self.until})

    def cut(self, ids: Ids[str]) -> list[str]:
        """Return the ids that are in the range, in order."""
        until = self.until
        return sorted(i for i in ids if i > self.after and (until is None or i <= until))[
            : self.limit
        ]
