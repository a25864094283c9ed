"""The flat layout: `minutes.{0…1439}`, one field for each minute of the day.

Source: "MongoDB Applied Design Patterns", ch. 4, pre-aggregated reports. The server goes through a
document's fields in order, so a minute late in the day costs about twice what the first one does.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from chalicelib.analytics.settings import LayoutName
from chalicelib.database import Document


class FlatLayout:
    """Hits by the minute of the day."""

    name: LayoutName = "flat"

    @staticmethod
    @cache
    def paths(minute: int) -> tuple[str, ...]:
        """Return the one field of a minute."""
        return (f"minutes.{minute}",)

    def cells(self, *, by_minute: bool) -> Document:  # noqa: ARG002 - minutes are all there is
        """Return the minutes of a document."""
        return {
            "$map": {
                "input": {"$objectToArray": {"$ifNull": ["$minutes", {}]}},
                "as": "minute",
                "in": {"at": {"$toInt": "$$minute.k"}, "hits": "$$minute.v"},
            }
        }

    def projection(self, *, by_minute: bool) -> Document:  # noqa: ARG002 - as for `cells`
        """Return the projection of all minutes."""
        return {"minutes": 1}

    def hits(self, row: Mapping[str, Any], *, by_minute: bool) -> Iterator[tuple[int, int]]:  # noqa: ARG002 - as for `cells`
        """Give the minutes of a document."""
        for minute, hits in row.get("minutes", {}).items():
            yield int(minute), hits

    def fields(self) -> tuple[str, ...]:
        """Return the one map."""
        return ("minutes",)

    def rewritten(self) -> Document:
        """Return the map of minutes."""
        pairs = {"$map": {"input": "$cells", "as": "cell", "in": _pair()}}
        return {"minutes": {"$arrayToObject": pairs}}


def _pair() -> Document:
    return {"k": {"$toString": "$$cell.at"}, "v": "$$cell.hits"}
