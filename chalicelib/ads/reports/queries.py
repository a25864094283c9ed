"""Reports, read from pre-aggregated documents alone."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, TypedDict

from pymongo.database import Database

from chalicelib.ads.reports.counters import (
    COUNTED_FIELDS,
    DAYS,
    HOURS,
    MONTHS,
    WEEKS,
    YEARS,
    EventCounts,
    StoredReport,
)
from chalicelib.database import Collection, Document

Period = Literal["minute", "hour", "day", "week", "month", "year"]
Group = Literal["ad_unit", "site", "zone", "campaign"]
Owner = Literal["campaign_id", "site_id"]
Money = Literal["spend_micros", "revenue_micros"]

_SOURCES: dict[Period, Collection[StoredReport]] = {
    "minute": HOURS,
    "hour": HOURS,
    "day": DAYS,
    "week": WEEKS,
    "month": MONTHS,
    "year": YEARS,
}
# What one report may span, so that what is read for it is bounded.
MAX_SPAN: dict[Period, timedelta] = {
    "minute": timedelta(days=2),
    "hour": timedelta(days=62),
    "day": timedelta(days=800),
    "week": timedelta(days=3_700),
    "month": timedelta(days=3_700),
    "year": timedelta(days=37_000),
}
# An ad unit's id is its campaign's own, and a zone's its site's.
_GROUP_FIELDS: dict[Group | None, tuple[str, ...]] = {
    "ad_unit": ("campaign_id", "ad_unit_id"),
    "campaign": ("campaign_id",),
    "site": ("site_id",),
    "zone": ("site_id", "zone_id"),
    None: (),
}


class Grouped(TypedDict, total=False):
    """What a row is about beside its period: the fields of the report's group."""

    campaign_id: str
    ad_unit_id: str
    site_id: str
    zone_id: str


class Key(Grouped):
    """What tells one row from another."""

    period: datetime


class Row(EventCounts):
    """A row as the pipeline makes it."""

    _id: Key


@dataclass(frozen=True)
class Report:
    """What is asked for: one campaign's or one site's rows, by period and group.

    `money` names the amount that the reader may see: what was spent, or what is due of it.
    """

    owner: Owner
    owner_id: str
    start: datetime
    end: datetime
    by: Period
    group: Group | None
    money: Money

    @property
    def group_fields(self) -> tuple[str, ...]:
        """The fields of a row beside its period."""
        return _GROUP_FIELDS[self.group]

    @property
    def columns(self) -> tuple[str, ...]:
        """The fields of a row, in order."""
        counts = [name for name in COUNTED_FIELDS if not name.endswith("_micros")]
        rates = ("ctr", "ctr_low", "ctr_high")
        # What an advertiser's orders were worth is no publisher's business.
        worth = ("value_micros",) if self.money == "spend_micros" else ()
        return ("period", *self.group_fields, *counts, *rates, self.money, *worth)


def read(
    database: Database[Document], report: Report, after: Sequence[Any] | None, limit: int
) -> tuple[list[Row], list[Any] | None]:
    """Return up to `limit` rows in the order of period and group, and where the next ones start.

    A position is [period, group value, ...], with the period in ISO form. Periods without an
    event have no row.
    """
    # Its own start bounds a report, whatever an earlier one's cursor says.
    start = max(datetime.fromisoformat(after[0]), report.start) if after else report.start
    pipeline = [
        {"$match": {report.owner: report.owner_id, "period": _within(report, start)}},
        *_split_minutes(report, start),
        {
            "$group": {
                "_id": _key(report),
                **{name: {"$sum": f"${name}"} for name in COUNTED_FIELDS},
            }
        },
        *([{"$match": {"_id": {"$gt": _position(report, after)}}}] if after else []),
        {"$sort": {"_id": 1}},
        {"$limit": limit + 1},
    ]
    found = list(_SOURCES[report.by].read_as(Row, database).aggregate(pipeline))
    rows = found[:limit]
    more = len(found) > limit
    return rows, _position_of(report, rows[-1]["_id"]) if more else None


def as_csv(report: Report, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows, as they are answered, as CSV with a header line (RFC 4180)."""
    text = io.StringIO()
    writer = csv.DictWriter(text, report.columns)
    writer.writeheader()
    writer.writerows({**row, "period": row["period"].isoformat()} for row in rows)
    return text.getvalue()


def _within(report: Report, start: datetime) -> Document:
    if report.by == "minute":
        start = start.replace(minute=0, second=0, microsecond=0)
    return {"$gte": start, "$lt": report.end}


def _split_minutes(report: Report, start: datetime) -> list[Document]:
    """Return the stages that make a document of each minute of an hour."""
    if report.by != "minute":
        return []
    minute = {
        "$dateAdd": {"startDate": "$period", "unit": "minute", "amount": {"$toInt": "$minute.k"}}
    }
    return [
        {"$set": {"minute": {"$objectToArray": "$minutes"}}},
        {"$unwind": "$minute"},
        {"$set": {"period": minute, **{name: f"$minute.v.{name}" for name in COUNTED_FIELDS}}},
        {"$match": {"period": {"$gte": start, "$lt": report.end}}},
    ]


def _key(report: Report) -> Document:
    return {"period": "$period", **{name: f"${name}" for name in report.group_fields}}


def _position(report: Report, after: Sequence[Any]) -> Document:
    period, *group = after
    fields = zip(report.group_fields, group, strict=True)
    return {"period": datetime.fromisoformat(period), **dict(fields)}


def _position_of(report: Report, key: Key) -> list[Any]:
    values: Mapping[str, Any] = key
    return [key["period"].isoformat(), *(values[name] for name in report.group_fields)]
