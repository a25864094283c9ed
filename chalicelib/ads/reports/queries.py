"""Reports read pre-aggregated documents alone, so that a year is as cheap as an hour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypedDict

from pymongo.database import Database

from chalicelib import time_zones
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
from chalicelib.time_zones import Period

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
# An ad unit's id is unique within its campaign alone, and a zone's within its site.
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
    """A row of the pipeline's result: the sums of one period and group."""

    _id: RowKey


@dataclass(frozen=True)
class ReportScope:
    """The scope of a report: one campaign's or one site's rows, by period and group.

    `money` names the amount that the reader may see: a campaign's spending, or a site's revenue.
    """

    owner: Owner
    owner_id: str
    start: datetime
    end: datetime
    by: Period
    group: Group | None
    money: Money
    tz: str = "UTC"

    @cached_property
    def starts(self) -> list[datetime]:
        """The UTC starts of the periods that begin in the report's span; not for minutes."""
        edges = time_zones.edges(self.by, self.start, self.end, self.tz)
        return [edge for edge in edges if edge >= self.start]

    @cached_property
    def last_end(self) -> datetime:
        """The UTC end of the last period; it may be later than the report's own end."""
        return time_zones.end_of(self.by, self.starts[-1], self.tz)

    @property
    def is_utc(self) -> bool:
        """Return whether the stored (UTC) periods are the report's periods; minutes always are."""
        return self.tz == "UTC" or self.by == "minute"

    @property
    def group_fields(self) -> tuple[str, ...]:
        """The fields of a row that identify its group."""
        return _GROUP_FIELDS[self.group]

    @property
    def columns(self) -> tuple[str, ...]:
        """The fields of a row, in order."""
        counts = [name for name in COUNTED_FIELDS if not name.endswith("_micros")]
        rates = ("ctr", "ctr_low", "ctr_high")
        # A publisher does not see the value of an advertiser's orders.
        worth = ("value_micros",) if self.money == "spend_micros" else ()
        return ("period", *self.group_fields, *counts, *rates, self.money, *worth)


def read(
    database: Database[Document], report: ReportScope, after: Sequence[Any] | None, limit: int
) -> tuple[list[SummedRow], list[Any] | None]:
    """Return up to `limit` rows by period and group, and the last row's position if more follow.

    A position is [period, group value, ...], with the period in ISO form. Periods without an
    event have no row.
    """
    # A cursor may come from a report with an earlier start: this report's start bounds the read.
    start = max(datetime.fromisoformat(after[0]), report.start) if after else report.start
    if not report.is_utc and not any(edge >= start for edge in report.starts):
        return [], None
    pipeline = [
        *(_whole_periods(report, start) if report.is_utc else _parts(report, start)),
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
    source = _SOURCES[report.by] if report.is_utc else _finer(report)
    found = list(source.read_as(SummedRow, database).aggregate(pipeline))
    rows = found[:limit]
    more = len(found) > limit
    return rows, _position_of(report, rows[-1]["_id"]) if more else None


def _whole_periods(report: ReportScope, start: datetime) -> list[Document]:
    """Return the stages that read the documents of the report's own periods, in UTC."""
    if report.by != "minute":
        return [_match(report, start, report.end)]
    hour = start.replace(minute=0, second=0, microsecond=0)
    return [_match(report, hour, report.end), *_split(MINUTES, start, report.end)]


def _parts(report: ReportScope, start: datetime) -> list[Document]:
    """Return the stages that assign the parts of UTC days or hours to a time zone's periods."""
    starts = [edge for edge in report.starts if edge >= start]
    end = report.last_end
    split = MINUTES if _finer(report) is HOURS else OF_DAY
    first = starts[0].replace(minute=0, second=0, microsecond=0)
    if split is OF_DAY:
        first = first.replace(hour=0)
    period = {"$set": {"period": time_zones.start_of("$period", starts)}}
    return [_match(report, first, end), *_split(split, starts[0], end), period]


def _finer(report: ReportScope) -> Collection[StoredReport]:
    """Return the reports to split: hours if a period starts or ends within an hour, else days."""
    # Where clocks change by half an hour, the last period alone may end within an hour.
    return HOURS if any(edge.minute for edge in (*report.starts, report.last_end)) else DAYS


class _Split(NamedTuple):
    """The field of a document's parts, and their unit of time."""

    field: str
    unit: str


MINUTES, OF_DAY = _Split("minutes", "minute"), _Split("hours", "hour")


def _match(report: ReportScope, start: datetime, end: datetime) -> Document:
    return {
        "$match": {report.owner: report.owner_id, "period": {"$gte": start, "$lt": end}},
    }


def _split(split: _Split, start: datetime, end: datetime) -> list[Document]:
    """Return the stages that unwind each document into parts, each with its start and counts."""
    amount = {"$toInt": "$part.k"}
    at = {"$dateAdd": {"startDate": "$period", "unit": split.unit, "amount": amount}}
    return [
        {"$set": {"part": {"$objectToArray": f"${split.field}"}}},
        {"$unwind": "$part"},
        {"$set": {"period": at, **{name: f"$part.v.{name}" for name in COUNTED_FIELDS}}},
        {"$match": {"period": {"$gte": start, "$lt": end}}},
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
