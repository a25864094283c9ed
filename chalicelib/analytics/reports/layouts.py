"""Layouts of a report's document: flat by minute, or hierarchical by hour."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Protocol

from chalicelib.analytics.settings import LayoutName
from chalicelib.database import Document


class Layout(Protocol):
    """The fields of one layout. A document may have counts in both layouts; queries sum them."""

    name: LayoutName

    def paths(self, minute: int) -> tuple[str, ...]:
        """Return the fields that count a hit in a minute of the day (0 to 1,439)."""
        ...

    def cells(self, *, by_minute: bool) -> Document:
        """Return the expression of a document's hits: an array of {at, hits}.

        `at` is a minute of the day: with `by_minute`, the minute of the hits; without, any minute
        of their hour.
        """
        ...

    def projection(self, *, by_minute: bool) -> Document:
        """Return the projection of the fields that `hits` reads."""
        ...

    def hits(self, row: Mapping[str, Any], *, by_minute: bool) -> Iterator[tuple[int, int]]:
        """Yield (at, hits) of a document, as `cells` does on the server."""
        ...

    def fields(self) -> tuple[str, ...]:
        """Return the top-level fields of this layout."""
        ...

    def rewritten(self) -> Document:
        """Return the `$set` that makes this layout from the array `cells` of {at, hits}."""
        ...


class FlatLayout:
    """`minutes.{0…1439}`: a field for each minute of the day.

    The server goes through a document's fields in order, so the last minute of a day costs about
    twice the first. Source: "MongoDB Applied Design Patterns", ch. 4, pre-aggregated reports.
    """

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
        """Yield the minutes of a document."""
        for minute, hits in row.get("minutes", {}).items():
            yield int(minute), hits

    def fields(self) -> tuple[str, ...]:
        """Return `minutes`, the only top-level field."""
        return ("minutes",)

    def rewritten(self) -> Document:
        """Return the map of minutes."""
        pairs = {"$map": {"input": "$cells", "as": "cell", "in": _pair()}}
        return {"minutes": {"$arrayToObject": pairs}}


def _pair() -> Document:
    return {"k": {"$toString": "$$cell.at"}, "v": "$$cell.hits"}


HOURS = range(24)
MINUTES = 60


class HierarchicalLayout:
    """`hours.{0…23}`, each with its hits and its minutes `m.{0…59}`.

    The server passes over whole hours, so every minute costs the same. Source: "MongoDB Applied
    Design Patterns", ch. 4, hierarchical pre-aggregated reports.
    """

    name: LayoutName = "hierarchical"

    @staticmethod
    @cache
    def paths(minute: int) -> tuple[str, ...]:
        """Return the fields of the hour and of the minute in it."""
        hour, rest = divmod(minute, MINUTES)
        return (f"hours.{hour}.hits", f"hours.{hour}.m.{rest}")

    def cells(self, *, by_minute: bool) -> Document:
        """Return the hours of a document, or their minutes."""
        hours = {"$objectToArray": {"$ifNull": ["$hours", {}]}}
        start = {"$multiply": [{"$toInt": "$$hour.k"}, MINUTES]}
        if not by_minute:
            each = {"at": start, "hits": "$$hour.v.hits"}
            return {"$map": {"input": hours, "as": "hour", "in": each}}
        minutes = {
            "$map": {
                "input": {"$objectToArray": {"$ifNull": ["$$hour.v.m", {}]}},
                "as": "minute",
                "in": {
                    "at": {"$add": [start, {"$toInt": "$$minute.k"}]},
                    "hits": "$$minute.v",
                },
            }
        }
        of_hours = {"$map": {"input": hours, "as": "hour", "in": minutes}}
        joined = {"$concatArrays": ["$$value", "$$this"]}
        return {"$reduce": {"input": of_hours, "initialValue": [], "in": joined}}

    def projection(self, *, by_minute: bool) -> Document:
        """Return the projection of the hits of hours; with `by_minute`, of their minutes too."""
        return {"hours": 1} if by_minute else {f"hours.{hour}.hits": 1 for hour in HOURS}

    def hits(self, row: Mapping[str, Any], *, by_minute: bool) -> Iterator[tuple[int, int]]:
        """Yield the hours of a document, or their minutes."""
        for hour, counted in row.get("hours", {}).items():
            start = int(hour) * MINUTES
            if by_minute:
                for minute, hits in counted.get("m", {}).items():
                    yield start + int(minute), hits
            else:
                yield start, counted.get("hits", 0)

    def fields(self) -> tuple[str, ...]:
        """Return `hours`, the only top-level field."""
        return ("hours",)

    def rewritten(self) -> Document:
        """Return the map of hours with minutes.

        After a removal, a shard may have negative hits in an hour; the sum of all shards is right.
        """
        hours = [{"k": str(hour), "v": _hour(hour)} for hour in HOURS]
        used = {"$filter": {"input": hours, "as": "hour", "cond": {"$ne": ["$$hour.v.m", {}]}}}
        return {"hours": {"$arrayToObject": used}}


def _hour(hour: int) -> Document:
    start = hour * MINUTES
    within = [{"$gte": ["$$cell.at", start]}, {"$lt": ["$$cell.at", start + MINUTES]}]
    cells = {"$filter": {"input": "$cells", "as": "cell", "cond": {"$and": within}}}
    hits = {"$sum": {"$map": {"input": cells, "as": "cell", "in": "$$cell.hits"}}}
    pair = {"k": {"$toString": {"$subtract": ["$$cell.at", start]}}, "v": "$$cell.hits"}
    minutes = {"$arrayToObject": {"$map": {"input": cells, "as": "cell", "in": pair}}}
    return {"hits": hits, "m": minutes}


LAYOUTS: dict[LayoutName, Layout] = {
    "flat": FlatLayout(),
    "hierarchical": HierarchicalLayout(),
}

__all__ = ["LAYOUTS"]
