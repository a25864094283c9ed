"""Removing a page or a source from a site's reports: spam, or a page counted by mistake."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from pymongo import UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.analytics.errors import LogCannotForget
from chalicelib.analytics.hits import DAY, OTHER, WHOLE_SITE, Dimension
from chalicelib.analytics.logs.log import Log, Span
from chalicelib.analytics.reports import names
from chalicelib.analytics.reports.days import DAYS, SOURCES, Place, Subject, name_of
from chalicelib.database import Document, in_transaction

_COUNTED = ("hits", "bots", "feeds", "hours", "minutes", "quarters")


def remove_source(
    database: Database[Document], logs: Sequence[Log], site: str, dimension: Dimension, value: str
) -> None:
    """Delete a source's reports day by day; first the logs remove the source from the day's hits.

    The hits stay in the reports of pages and of the site. Raises LogCannotForget before any write.
    """
    _check_forget(logs, dimension)
    rows = SOURCES.of(database)
    where = {"site": site, "dimension": dimension, "value": value}
    for day in _days(rows, where):
        for log in logs:
            log.forget_source(Span(site, day, day + DAY), dimension, value)
        own = {**where, "day": day}
        place = Place(Subject(site, dimension, value), day)
        in_transaction(database, partial(_remove_source_day, database, own, place))


def _remove_source_day(
    database: Database[Document], own: Document, place: Place, session: ClientSession
) -> None:
    rows: Any = SOURCES.of(database)
    found = list(rows.find(own, session=session))
    if found:
        rows.delete_many(own, session=session)
        _free(database, session, place, found)


def _free(
    database: Database[Document], session: ClientSession, place: Place, rows: Sequence[Any]
) -> None:
    """Free the room of a removed name for another name."""
    if place.subject.value != OTHER:
        via = next((row["via"] for row in rows if "via" in row), None)
        names.free(database, session, place, via)


def remove_path(
    database: Database[Document], logs: Sequence[Log], site: str, path: str, now: datetime
) -> None:
    """Delete a path's hits from the logs; then, day by day, its counts, also from the whole site.

    The site's visitors stay: they may have read other pages too. So do its sources, which have no
    counts by page. Sessions of the days are due again: some began on the page. Raises
    LogCannotForget before any write.
    """
    _check_forget(logs, "path")
    for log in logs:
        log.remove(site, path)
    for day in _days(DAYS.of(database), {"site": site, "path": path}):
        _remove_day(database, site, path, day, now)


def _check_forget(logs: Sequence[Log], field: str) -> None:
    """Raise LogCannotForget if a log cannot forget hits; during a move, a site has two logs."""
    if not all(log.can_forget for log in logs):
        raise LogCannotForget(field)


def _days(rows: Any, where: Document) -> list[datetime]:
    return sorted({row["day"] for row in rows.find(where, {"_id": 0, "day": 1})})


def _remove_day(
    database: Database[Document], site: str, path: str, day: datetime, now: datetime
) -> None:
    rows = DAYS.of(database)
    own = {"site": site, "path": path, "day": day}

    def work(session: ClientSession) -> None:
        # A late name's early hits are in one of its own shards, and in any shard of the site. So
        # a document of the site may become negative; the sum of all its shards is right.
        found = list(rows.find(own, session=session))
        operations = [
            UpdateOne(
                {"site": site, "path": WHOLE_SITE, "day": day, "_id": _whole_id(row)},
                {"$inc": dict(_negate(row)), "$max": {"updated_at": now}},
            )
            for row in found
        ]
        if operations:
            rows.bulk_write(operations, ordered=False, session=session)
            rows.delete_many(own, session=session)
            _free(database, session, Place(Subject(site, None, path), day), found)

    in_transaction(database, work)


def _whole_id(row: Mapping[str, Any]) -> str:
    return name_of(Place(Subject(row["site"], None, WHOLE_SITE), row["day"]), row["shard"])


def _negate(row: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the negatives of a document's numbers, except for visitors."""
    for name in _COUNTED:
        yield from _leaves(name, row.get(name, 0))


def _leaves(path: str, value: Any) -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _leaves(f"{path}.{name}", part)
    elif value and not path.endswith(".visitors"):
        yield path, -value
