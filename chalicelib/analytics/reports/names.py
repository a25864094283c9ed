"""How many paths and sources a site counts a day, so that no stranger can fill the database.

The number of a day's names is in one document, which only a batch with new names writes to. A name
is known if a report has a document of it.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypedDict

from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.analytics.hits import OLDEST, OTHER, WHOLE_SITE, Dimension
from chalicelib.analytics.reports.days import DAYS, SOURCES, Place
from chalicelib.bounds import AnalyticsBounds
from chalicelib.database import Collection, Document

_ALWAYS = (WHOLE_SITE, OTHER)


class NameCount(TypedDict):
    """How many names a site has on a day: `_id` is `site/day/path`, or the dimension."""

    _id: str
    day: datetime
    names: int


# Longer than hits of the day may come.
NAME_COUNTS = Collection(
    "hit.names",
    NameCount,
    indexes=(
        IndexModel(
            [("day", ASCENDING)],
            expireAfterSeconds=int((OLDEST + timedelta(days=2)).total_seconds()),
        ),
    ),
)


class Day(NamedTuple):
    """A day of a site's paths, or of a dimension's values."""

    site: str
    dimension: Dimension | None
    day: datetime

    @property
    def id(self) -> str:
        """Return the id of its count."""
        return f"{self.site}/{self.day:%Y%m%d}/{self.dimension or 'path'}"


class Names:
    """The names that a container has seen counted: those of most hits of a busy site."""

    def __init__(self, database: Database[Document], bounds: AnalyticsBounds) -> None:
        self._database = database
        self._bounds = bounds
        self._known: set[Place] = set()

    def remember(self, places: Iterable[Place]) -> None:
        """Remember names that were counted, once their transaction has committed."""
        if len(self._known) > self._bounds.names_remembered:
            self._known.clear()
        self._known.update(places)

    def admitted(self, session: ClientSession, places: Iterable[Place]) -> set[Place]:
        """Return the places that count under their own names, in the caller's transaction.

        Names that are new are counted, as far as their day has room for them.
        """
        asked = set(places)
        found = {each for each in asked if each in self._known or each.subject.value in _ALWAYS}
        by_day: dict[Day, list[str]] = {}
        for subject, day in asked - found:
            by_day.setdefault(Day(subject.site, subject.dimension, day), []).append(subject.value)
        for whose, values in sorted(by_day.items(), key=lambda item: item[0].id):
            admitted = self._of_day(session, whose, values)
            of_day = {each for each in asked - found if _day(each) == whose}
            found |= {each for each in of_day if each.subject.value in admitted}
        return found

    def _of_day(self, session: ClientSession, day: Day, values: Sequence[str]) -> set[str]:
        known = self._counted(session, day, values)
        new = sorted(set(values) - known)
        if not new:
            return known
        counts = NAME_COUNTS.of(self._database)
        stored = counts.find_one({"_id": day.id}, session=session)
        names = stored["names"] if stored else 0
        most = self._bounds.sources if day.dimension else self._bounds.paths
        room = new[: max(most - names, 0)]
        if room:
            added = {"$inc": {"names": len(room)}, "$setOnInsert": {"day": day.day}}
            counts.update_one({"_id": day.id}, added, upsert=True, session=session)
        return known | set(room)

    def _counted(self, session: ClientSession, day: Day, values: Sequence[str]) -> set[str]:
        """Return the names that a report has a document of; the index alone answers."""
        field = "value" if day.dimension else "path"
        where: Document = {"site": day.site, "day": day.day, field: {"$in": list(values)}}
        rows: Any = (SOURCES if day.dimension else DAYS).of(self._database)
        if day.dimension:
            where["dimension"] = day.dimension
        found = rows.find(where, {"_id": 0, field: 1}, session=session)
        return {row[field] for row in found}


def _day(place: Place) -> Day:
    return Day(place.subject.site, place.subject.dimension, place.day)
