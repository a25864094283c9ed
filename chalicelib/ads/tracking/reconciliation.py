"""Reconciliation of the raw events with the reports; they must not differ."""

from collections import Counter
from datetime import datetime
from typing import TypedDict

from pymongo.database import Database

from chalicelib.ads.reports.counters import (
    COUNTED_FIELDS,
    DAYS,
    HOURS,
    AdPlace,
    EventCounts,
    StoredReport,
)
from chalicelib.ads.tracking.events import EVENTS, StoredAdEvent
from chalicelib.database import Collection, Document


def reconcile(
    database: Database[Document], campaign_id: str, start: datetime, end: datetime
) -> list[Document]:
    """Return the differences between a campaign's reports and its events.

    `start` and `end` are UTC midnights. Each difference is {report, period, place, events,
    reported}. Of events older than 90 days, only conversions with an order exist. Run it after
    the workers have counted all events before `end`.
    """
    wanted = {"campaign_id": campaign_id}
    differences = []
    for unit, collection in (("hour", HOURS), ("day", DAYS)):
        recounted = _sum_events(database, {**wanted, "ts": {"$gte": start, "$lt": end}}, unit)
        reported = _sum_reports(
            database, {**wanted, "period": {"$gte": start, "$lt": end}}, collection
        )
        for key in sorted(recounted.keys() | reported.keys()):
            events, report = recounted.get(key, Counter()), reported.get(key, Counter())
            if events != report:
                found = {"events": dict(events), "reported": dict(report)}
                where = {"period": key[0], "place": key[1]._asdict()}
                differences.append({"report": unit, **where, **found})
    return differences


class _Group(TypedDict):
    """The key of a pipeline's group."""

    period: datetime
    campaign_id: str
    ad_unit_id: str
    site_id: str
    zone_id: str


class _Counted(EventCounts):
    """The sums of a pipeline's group."""

    _id: _Group


_Counts = dict[tuple[datetime, AdPlace], Counter[str]]


def _sum_events(database: Database[Document], wanted: Document, unit: str) -> _Counts:
    human = {"$not": ["$is_bot"]}
    is_unbilled = [human, {"$gt": ["$price_micros", 0]}, {"$not": ["$billed"]}]

    def amount(field: str, *conditions: str) -> Document:
        return {"$sum": {"$cond": [{"$and": [human, *conditions]}, field, 0]}}

    def number(kind: str) -> Document:
        return {"$sum": {"$cond": [{"$and": [human, {"$eq": ["$type", kind]}]}, 1, 0]}}

    sums = {
        "impressions": number("impression"),
        "clicks": number("click"),
        "conversions": number("conversion"),
        "unbilled": {"$sum": {"$cond": [{"$and": is_unbilled}, 1, 0]}},
        "bots": {"$sum": {"$cond": ["$is_bot", 1, 0]}},
        "spend_micros": amount("$price_micros", "$billed"),
        "revenue_micros": amount("$revenue_micros"),
        "value_micros": amount("$value_micros"),
    }
    period = {"$dateTrunc": {"date": "$ts", "unit": unit}}
    return _group(database, EVENTS, wanted, period, sums)


def _sum_reports(
    database: Database[Document], wanted: Document, collection: Collection[StoredReport]
) -> _Counts:
    sums: Document = {name: {"$sum": f"${name}"} for name in COUNTED_FIELDS}
    return _group(database, collection, wanted, "$period", sums)


def _group(
    database: Database[Document],
    collection: Collection[StoredReport] | Collection[StoredAdEvent],
    wanted: Document,
    period: str | Document,
    sums: Document,
) -> _Counts:
    place = {name: f"${name}" for name in AdPlace._fields}
    pipeline = [{"$match": wanted}, {"$group": {"_id": {"period": period, **place}, **sums}}]
    found: _Counts = {}
    for row in collection.read_as(_Counted, database).aggregate(pipeline):
        group = row["_id"]
        at = AdPlace(group["campaign_id"], group["ad_unit_id"], group["site_id"], group["zone_id"])
        found[group["period"], at] = Counter({n: row[n] for n in COUNTED_FIELDS if row[n]})
    return found
