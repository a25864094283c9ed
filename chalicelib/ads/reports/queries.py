"""Reports read pre-aggregated documents alone, so that a year is as cheap as an hour."""

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
# The longest span of a report, so that its read is bounded.
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
    """The fields of a row's group."""

    campaign_id: str
    ad_unit_id: str
    site_id: str
    zone_id: str


class RowKey(Grouped):
    """The key of a row: its period and its group."""

    period: datetime


class SummedRow(EventCounts):
    """A row of the pipeline."""

    _id: RowKey


@dataclass(frozen=True)
class ReportScope:
    """A reader's wish: one campaign's or one site's rows, by period and group.

    `money` names the amount that the reader may see: the spending, or the site's share of it.
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
        # The value of an advertiser's orders is no publisher's business.
        worth = ("value_micros",) if self.money == "spend_micros" else ()
        return ("period", *self.group_fields, *counts, *rates, self.money, *worth)


def read(
    database: Database[Document], report: ReportScope, after: Sequence[Any] | None, limit: int
) -> tuple[list[SummedRow], list[Any] | None]:
    """Return up to `limit` rows by period and group, and the position of the next rows.

    A position is [period, group value, ...], with the period in ISO form. Periods without an
    event have no row.
    """
    # The report's own start is a bound, whatever another report's cursor says.
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
    found = list(_SOURCES[report.by].read_as(SummedRow, database).aggregate(pipeline))
    rows = found[:limit]
    more = len(found) > limit
    return rows, _position_of(report, rows[-1]["_id"]) if more else None


def as_csv(report: ReportScope, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the API's rows as CSV with a header line (RFC 4180)."""
    text = io.StringIO()
    writer = csv.DictWriter(text, report.columns)
    writer.writeheader()
    writer.writerows({**row, "period": row["period"].isoformat()} for row in rows)
    return text.getvalue()


def _within(report: ReportScope, start: datetime) -> Document:
    if report.by == "minute":
        start = start.replace(minute=0, second=0, microsecond=0)
    return {"$gte": start, "$lt": report.end}


def _split_minutes(report: ReportScope, start: datetime) -> list[Document]:
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


def _key(report: ReportScope) -> Document:
    return {"period": "$period", **{name: f"${name}" for name in report.group_fields}}


def _position(report: ReportScope, after: Sequence[Any]) -> Document:
    period, *group = after
    fields = zip(report.group_fields, group, strict=True)
    return {"period": datetime.fromisoformat(period), **dict(fields)}


def _position_of(report: ReportScope, key: RowKey) -> list[Any]:
    values: Mapping[str, Any] = key
    return [key["period"].isoformat(), *(values[name] for name in report.group_fields)]
