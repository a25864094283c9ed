"""Recounting a log's hits against the reports; they must not differ."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pymongo.database import Database

from chalicelib.analytics.hits import DAY, OTHER, StoredHit
from chalicelib.analytics.logs import together
from chalicelib.analytics.logs.log import Log, Span
from chalicelib.analytics.reports.days import (
    COUNTED_FIELDS,
    DAYS,
    QUARTER_MINUTES,
    SOURCES,
    Subject,
    field_of,
    places_of,
)
from chalicelib.analytics.reports.layouts import LAYOUTS
from chalicelib.database import Document

# A subject's counts: by field, by minute as `minute 754`, and by quarter hour as `bots 3`.
Counts = dict[Subject, Counter[str]]


def differences(
    database: Database[Document], logs: Sequence[Log], site: str, day: datetime
) -> list[Document]:
    """Return the differences of a day's reports from the logs' hits.

    Each is {subject, hits, reported}. The comparison is right for a day that the log still has,
    once all hits of the day have counted.
    """
    reported = dict(_sum_reports(database, site, day))
    counted = _count_hits(together.each(logs, Span(site, day, day + DAY)), reported.keys())
    return [
        {
            "subject": subject,
            "hits": dict(+counted.get(subject, Counter())),
            "reported": _nonzero(reported.get(subject, Counter())),
        }
        for subject in sorted(counted.keys() | reported.keys(), key=str)
        if counted.get(subject, Counter()) != reported.get(subject, Counter())
    ]


def _nonzero(counts: Counter[str]) -> dict[str, int]:
    return {name: number for name, number in counts.items() if number}


def _count_hits(hits: Iterator[StoredHit], names: Any) -> Counts:
    found: Counts = {}
    seen: set[tuple[Subject, str]] = set()
    for hit in hits:
        minute, field = 60 * hit["ts"].hour + hit["ts"].minute, field_of(hit)
        for each in (place.subject for place in places_of(hit)):
            subject = each if each in names else each._replace(value=OTHER)
            counts = found.setdefault(subject, Counter())
            counts[field] += 1
            part = f"minute {minute}" if field == "hits" else f"{field} {minute // QUARTER_MINUTES}"
            counts[part] += 1
            visitor = hit.get("visitor") if field == "hits" else None
            if visitor is not None and (subject, visitor) not in seen:
                seen.add((subject, visitor))
                counts["visitors"] += 1
    return found


def _sum_reports(
    database: Database[Document], site: str, day: datetime
) -> Iterator[tuple[Subject, Counter[str]]]:
    found: Counts = {}
    where = {"site": site, "day": day}
    for collection in (DAYS, SOURCES):
        rows: Any = collection.of(database)
        dimensions = {} if collection is DAYS else {"dimension": {"$exists": True}}
        for row in rows.aggregate(
            [{"$match": {**where, **dimensions}}, {"$set": {"cells": _cells()}}]
        ):
            subject = Subject(site, row.get("dimension"), row.get("path", row.get("value")))
            found.setdefault(subject, Counter()).update(_parts(row))
    yield from found.items()


def _cells() -> Document:
    return {"$concatArrays": [layout.cells(by_minute=True) for layout in LAYOUTS.values()]}


def _parts(row: Mapping[str, Any]) -> Counter[str]:
    """Return a document's counts by field and part; visitors count by the day alone."""
    counts: Counter[str] = Counter({name: row[name] for name in COUNTED_FIELDS if row.get(name)})
    for cell in row["cells"]:
        counts[f"minute {cell['at']}"] += cell["hits"]
    for quarter, fields in row.get("quarters", {}).items():
        for name, number in fields.items():
            if name != "visitors":
                counts[f"{name} {quarter}"] += number
    return counts
