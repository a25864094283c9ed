"""Pre-aggregated reports of the event worker: by hour with minutes, by day with hours.

One document per campaign x ad unit x site x zone x period (UTC) x shard. Each batch writes to one
of several shards, because workers with one document would wait for each other. Queries add the
shards up. Source: "MongoDB Applied Design Patterns", ch. 4, hierarchical pre-aggregated reports.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import BulkWriteError

from chalicelib.database import DUPLICATE_KEY, Collection, Document

KEYS = ("campaign_id", "ad_unit_id", "site_id", "zone_id")
# The largest value of a day's conversions in one place and shard: far above any real value, and
# low enough that the sums over a year's days and shards stay within 64 bits.
MAX_COUNTED_VALUE = 10**15
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)
CountedField = Literal[
    "impressions",
    "clicks",
    "conversions",
    "unbilled",
    "bots",
    "spend_micros",
    "revenue_micros",
    "value_micros",
]
# `unbilled`: events with a price that no budget covered. Bots count in `bots` alone.
COUNTED_FIELDS: tuple[CountedField, ...] = (
    "impressions",
    "clicks",
    "conversions",
    "unbilled",
    "bots",
    "spend_micros",
    "revenue_micros",
    "value_micros",
)


class EventCounts(TypedDict, total=False):
    """The counts of events; absent: 0."""

    impressions: int
    clicks: int
    conversions: int
    unbilled: int
    bots: int
    spend_micros: int
    revenue_micros: int
    value_micros: int


class StoredReport(EventCounts):
    """A stored report: an hour has counts by `minutes`, a day has counts by `hours`.

    Weeks, months and years have no `shard`. Their `parts` are the counts of each day or month, by
    its first day (YYYYMMDD).
    """

    _id: str
    campaign_id: str
    ad_unit_id: str
    site_id: str
    zone_id: str
    period: datetime
    shard: NotRequired[int]
    updated_at: NotRequired[datetime]
    minutes: NotRequired[dict[str, EventCounts]]
    hours: NotRequired[dict[str, EventCounts]]
    parts: NotRequired[dict[str, EventCounts]]


BY_CAMPAIGN = [("campaign_id", ASCENDING), ("period", ASCENDING)]


def _collection(period: str) -> Collection[StoredReport]:
    return Collection(
        f"ad.report.{period}",
        StoredReport,
        indexes=(
            IndexModel(BY_CAMPAIGN),
            IndexModel([("site_id", ASCENDING), ("period", ASCENDING)]),
            IndexModel([("period", ASCENDING)]),
            IndexModel([("updated_at", ASCENDING), ("period", ASCENDING)]),
        ),
        shard_key={"campaign_id": 1, "period": 1},
    )


HOURS, DAYS, WEEKS, MONTHS, YEARS = map(_collection, ("hour", "day", "week", "month", "year"))


class AdPlace(NamedTuple):
    """The key of a report without its period and shard."""

    campaign_id: str
    ad_unit_id: str
    site_id: str
    zone_id: str


class CountedEvent(NamedTuple):
    """One event's counts, with their place and time."""

    place: AdPlace
    ts: datetime
    counts: Mapping[str, int]


class Uncountable(Exception):
    """MongoDB refuses an addition to a report's document, such as a sum beyond 64 bits."""

    def __init__(self, place: AdPlace, period: datetime, length: timedelta) -> None:
        super().__init__(f"{place} from {period}")
        self._place, self._period, self._length = place, period, length

    def holds(self, place: AdPlace, ts: datetime) -> bool:
        """Return whether an event of this place and time counts in the refusing document."""
        return place == self._place and self._period <= ts < self._period + self._length


def add(
    database: Database[Document],
    session: ClientSession,
    counted: Iterable[CountedEvent],
    shard: int,
    now: datetime,
) -> None:
    """Add events to their hours and days, within the caller's transaction.

    Raises Uncountable if a document refuses its counts.
    """
    hours: dict[tuple[AdPlace, datetime], Counter[str]] = {}
    days: dict[tuple[AdPlace, datetime], Counter[str]] = {}
    for place, ts, counts in counted:
        hour = ts.replace(minute=0, second=0, microsecond=0)
        _count(hours, (place, hour), f"minutes.{ts.minute}", counts)
        _count(days, (place, hour.replace(hour=0)), f"hours.{ts.hour}", counts)
    for collection, documents, length in ((HOURS, hours, _HOUR), (DAYS, days, _DAY)):
        operations = [
            _update(place, period, shard, counts, now)
            for (place, period), counts in documents.items()
        ]
        try:
            collection.of(database).bulk_write(operations, session=session)
        except BulkWriteError as error:
            (refused,) = error.details["writeErrors"]
            if refused["code"] == DUPLICATE_KEY:
                raise
            place, period = list(documents)[refused["index"]]
            raise Uncountable(place, period, length) from error


def _count(
    documents: dict[tuple[AdPlace, datetime], Counter[str]],
    key: tuple[AdPlace, datetime],
    part: str,
    counts: Mapping[str, int],
) -> None:
    sums = documents.setdefault(key, Counter())
    for name, count in counts.items():
        sums[name] += count
        sums[f"{part}.{name}"] += count


def _update(
    place: AdPlace, period: datetime, shard: int, counts: Counter[str], now: datetime
) -> UpdateOne:
    name = "/".join((*place, f"{period:%Y%m%d%H}", str(shard)))
    this = {"_id": name, "campaign_id": place.campaign_id, "period": period}
    fixed = {
        "ad_unit_id": place.ad_unit_id,
        "site_id": place.site_id,
        "zone_id": place.zone_id,
        "shard": shard,
    }
    if "value_micros" in counts:
        return UpdateOne(this, [{"$set": {**_saturating(counts, now), **fixed}}], upsert=True)
    change = {"$inc": dict(counts), "$max": {"updated_at": now}, "$setOnInsert": fixed}
    return UpdateOne(this, change, upsert=True)


def _saturating(counts: Counter[str], now: datetime) -> Document:
    """Return the `$set` fields that add counts, with values capped at MAX_COUNTED_VALUE.

    An `$inc` of a value could exceed 64 bits and fail. This update is slower than `$inc`, so only
    conversions use it.
    """
    fields: Document = {"updated_at": {"$max": ["$updated_at", now]}}
    for name, count in counts.items():
        before = {"$ifNull": [f"${name}", 0]}
        total: Document = {"$add": [before, count]}
        if name.endswith("value_micros"):
            total = {"$max": [before, {"$min": [total, MAX_COUNTED_VALUE]}]}
        fields[name] = total
    return fields
