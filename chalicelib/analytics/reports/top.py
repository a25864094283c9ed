"""The most read pages and sources of the day before: these names need no votes."""

from collections.abc import Iterable
from typing import Any

from pymongo import DESCENDING
from pymongo.database import Database

from chalicelib.analytics.hits import DAY, OTHER, WHOLE_SITE
from chalicelib.analytics.reports.days import DAYS, SOURCES, DayKey, Place
from chalicelib.bounds import AnalyticsBounds
from chalicelib.database import Document


class Tops:
    """A container's memory of the most read names of past days; it reads each day once."""

    def __init__(self, database: Database[Document], bounds: AnalyticsBounds) -> None:
        self._database = database
        self._bounds = bounds
        self._held: dict[DayKey, frozenset[str]] = {}

    def among(self, places: Iterable[Place]) -> set[Place]:
        """Return the places whose name was among the most read of the day before.

        Two round trips at most, and none for days in memory.
        """
        if sum(1 + len(names) for names in self._held.values()) > self._bounds.names_remembered:
            self._held.clear()
        by_day: dict[DayKey, list[Place]] = {}
        for place in places:
            subject = place.subject
            of = DayKey(subject.site, subject.dimension, place.day - DAY)
            by_day.setdefault(of, []).append(place)
        self._read([of for of in by_day if of not in self._held])
        return {
            place
            for of, some in by_day.items()
            for place in some
            if place.subject.value in self._held[of]
        }

    def _read(self, missing: list[DayKey]) -> None:
        # In memory only after all reads: a failed read must not stand for a day without names.
        found: dict[DayKey, frozenset[str]] = dict.fromkeys(missing, frozenset())
        pages = [of for of in missing if of.dimension is None]
        sources = [of for of in missing if of.dimension is not None]
        if pages and self._bounds.top_paths:
            found |= _aggregate(DAYS.of(self._database), "path", pages, self._bounds.top_paths)
        if sources and self._bounds.top_sources:
            most = self._bounds.top_sources
            found |= _aggregate(SOURCES.of(self._database), "value", sources, most)
        self._held.update(found)


def _aggregate(
    rows: Any, field: str, missing: list[DayKey], most: int
) -> dict[DayKey, frozenset[str]]:
    """Return up to `most` names of each day, by visitors: one visitor can make many hits."""
    key = {"site": "$site", "day": "$day", "dimension": "$dimension"}
    pipeline: list[Document] = [
        {"$match": {"$or": [of.filter for of in missing]}},
        {"$match": {field: {"$nin": [WHOLE_SITE, OTHER]}}},
        {
            "$group": {
                "_id": {**key, "name": f"${field}"},
                "visitors": {"$sum": "$visitors"},
                "hits": {"$sum": "$hits"},
            }
        },
        {
            "$group": {
                "_id": {name: f"$_id.{name}" for name in key},
                "names": {
                    "$topN": {
                        "n": most,
                        "sortBy": {"visitors": DESCENDING, "hits": DESCENDING, "_id": 1},
                        "output": "$_id.name",
                    }
                },
            }
        },
    ]
    found: dict[DayKey, frozenset[str]] = {}
    for row in rows.aggregate(pipeline, allowDiskUse=True):
        of = row["_id"]
        known = DayKey(of["site"], of.get("dimension"), of["day"])
        found[known] = frozenset(row["names"])
    return found
