"""Pre-aggregated reports, as the event worker writes them: by hour with minutes, by day with hours.

One document per campaign x ad unit x site x zone x period (UTC) and shard: with one document
the workers would wait for each other, so each batch writes to one of eight, which readers add
up. Source: "MongoDB Applied Design Patterns", ch. 4, pre-aggregated reports, hierarchical.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Collection, Document

SHARDS = 8
KEYS = ("campaign_id", "ad_unit_id", "site_id", "zone_id")
# `unbilled` counts events that had a price which nothing covered; bots stand apart from all.
COUNTS = (
    "impressions",
    "clicks",
    "conversions",
    "unbilled",
    "bots",
    "spend_micros",
    "revenue_micros",
    "value_micros",
)


class Counts(TypedDict, total=False):
    """What is counted, as far as there was any."""

    impressions: int
    clicks: int
    conversions: int
    unbilled: int
    bots: int
    spend_micros: int
    revenue_micros: int
    value_micros: int


class Report(Counts):
    """A report's document; hours hold their `minutes`, days their `hours`, each with counts.

    What is rolled up of others has neither shard nor time of change.
    """

    _id: str
    campaign_id: str
    ad_unit_id: str
    site_id: str
    zone_id: str
    period: datetime
    shard: NotRequired[int]
    updated_at: NotRequired[datetime]
    minutes: NotRequired[dict[str, Counts]]
    hours: NotRequired[dict[str, Counts]]


def _collection(period: str) -> Collection:
    return Collection(
        f"ad.report.{period}",
        Report,
        indexes=(
            IndexModel([("campaign_id", ASCENDING), ("period", ASCENDING)]),
            IndexModel([("site_id", ASCENDING), ("period", ASCENDING)]),
            IndexModel([("period", ASCENDING)]),
            IndexModel([("updated_at", ASCENDING), ("period", ASCENDING)]),
        ),
        shard_key={"campaign_id": 1, "period": 1},
    )


HOURS, DAYS, WEEKS, MONTHS, YEARS = map(_collection, ("hour", "day", "week", "month", "year"))


class Place(NamedTuple):
    """What a report tells apart."""

    campaign_id: str
    ad_unit_id: str
    site_id: str
    zone_id: str


class Counted(NamedTuple):
    """What one event adds, and where and when."""

    place: Place
    ts: datetime
    counts: Mapping[str, int]


def add(
    database: Database[Document],
    session: ClientSession,
    counted: Iterable[Counted],
    shard: int,
    now: datetime,
) -> None:
    """Add events to the hours and days that they fall in, within the caller's transaction."""
    hours: dict[tuple[Place, datetime], Counter[str]] = {}
    days: dict[tuple[Place, datetime], Counter[str]] = {}
    for place, ts, counts in counted:
        hour = ts.replace(minute=0, second=0, microsecond=0)
        _count(hours, (place, hour), f"minutes.{ts.minute}", counts)
        _count(days, (place, hour.replace(hour=0)), f"hours.{ts.hour}", counts)
    for collection, documents in ((HOURS, hours), (DAYS, days)):
        operations = [
            _update(place, period, shard, counts, now)
            for (place, period), counts in documents.items()
        ]
        database[collection.name].bulk_write(operations, session=session)


def _count(
    documents: dict[tuple[Place, datetime], Counter[str]],
    key: tuple[Place, datetime],
    part: str,
    counts: Mapping[str, int],
) -> None:
    sums = documents.setdefault(key, Counter())
    for name, count in counts.items():
        sums[name] += count
        sums[f"{part}.{name}"] += count


def _update(
    place: Place, period: datetime, shard: int, counts: Counter[str], now: datetime
) -> UpdateOne:
    name = "/".join((*place, f"{period:%Y%m%d%H}", str(shard)))
    return UpdateOne(
        {"_id": name, "campaign_id": place.campaign_id, "period": period},
        {
            "$inc": dict(counts),
            "$max": {"updated_at": now},
            "$setOnInsert": {
                "ad_unit_id": place.ad_unit_id,
                "site_id": place.site_id,
                "zone_id": place.zone_id,
                "shard": shard,
            },
        },
        upsert=True,
    )
