"""Click-through rates: the counts behind their estimates.

`ad.count` holds one document for each ad unit in each zone, {site_id, zone_id, campaign_id,
ad_unit_id, impressions, clicks, first, last}. `estimate` writes the totals of its window with one
`$merge`; `repricing` then updates the zones.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NotRequired, TypedDict

from bson import ObjectId
from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads.inventory.campaigns import GroupedZone, StoredPricing
from chalicelib.ads.inventory.ecpm import DEFAULT_PRIOR, NO_COUNTS, ClickCounts, Prior, ecpm_micros
from chalicelib.ads.reports.counters import DAYS
from chalicelib.ads.reports.roll_ups import place_of, sums_of
from chalicelib.database import Collection, Document
from chalicelib.instants import start_of_day

# The days of counts behind an estimate.
ESTIMATED_FROM = timedelta(days=30)
# An ad without events today and yesterday counts as paused; yesterday allows for a late run.
PAUSED_AFTER = timedelta(days=1)
_COUNTS = ("impressions", "clicks")


def estimate(database: Database[Document], now: datetime) -> None:
    """Store the impressions and clicks of each ad in each zone in `ad.count`.

    The window's counts replace the stored counts if the ad is running and its events fill the
    window, or if the impressions are at least as many. Otherwise the stored counts stay: a paused
    ad's days leave the window one by one, and the ad would come back as new.
    """
    today = start_of_day(now)
    since = today - ESTIMATED_FROM
    sums = {"first": {"$min": "$period"}, "last": {"$max": "$period"}, **sums_of(_COUNTS)}
    is_running = {"$gte": ["$$new.last", today - PAUSED_AFTER]}
    is_full = {"$lte": ["$$new.first", since + PAUSED_AFTER]}
    is_more = {"$gte": ["$$new.impressions", "$impressions"]}
    newer: Document = {"$or": [{"$and": [is_running, is_full]}, is_more]}
    matched = {name: {"$cond": [newer, f"$$new.{name}", f"${name}"]} for name in _COUNTS}
    into = {
        "into": AD_COUNTS.name,
        "on": ["site_id", "zone_id", "campaign_id", "ad_unit_id"],
        "whenMatched": [{"$set": {**matched, "first": "$$new.first", "last": "$$new.last"}}],
    }
    DAYS.of(database).aggregate(
        [
            {"$match": {"period": {"$gte": since}}},
            {"$group": {"_id": place_of(), **sums}},
            {"$replaceWith": {"$mergeObjects": ["$_id", {n: f"${n}" for n in sums}]}},
            {"$merge": into},
        ]
    )


class AdCount(TypedDict):
    """The impressions and clicks of an ad unit in a zone.

    first, last: the first and the last day with events in the window.
    """

    _id: ObjectId
    site_id: str
    zone_id: str
    campaign_id: str
    ad_unit_id: str
    impressions: int
    clicks: int
    first: NotRequired[datetime]
    last: NotRequired[datetime]


AD_COUNTS = Collection(
    "ad.count",
    AdCount,
    indexes=(
        IndexModel(
            [(name, ASCENDING) for name in ("site_id", "zone_id", "campaign_id", "ad_unit_id")],
            unique=True,
        ),
    ),
    shard_key={"site_id": 1, "zone_id": 1},
)

# An ad of a zone: its campaign's id and its own.
AdKey = tuple[str, str]


@dataclass(frozen=True)
class Estimate:
    """The prior and the counts of the click-through rates in one zone."""

    prior: Prior = DEFAULT_PRIOR
    counts: Mapping[AdKey, ClickCounts] = field(default_factory=dict)

    def ecpm_micros(self, pricing: StoredPricing, ad: AdKey) -> int:
        """Return the effective price of a thousand impressions of an ad in this zone."""
        return ecpm_micros(pricing, self.counts.get(ad, NO_COUNTS), self.prior)


UNKNOWN = Estimate()


def of_campaign(
    database: Database[Document], session: ClientSession, campaign_id: str, in_zones: Document
) -> dict[tuple[str, str], dict[AdKey, ClickCounts]]:
    """Return the counts of a campaign's ads by (site, zone), in the zones of a query."""
    by_zone: defaultdict[tuple[str, str], dict[AdKey, ClickCounts]] = defaultdict(dict)
    wanted = {**in_zones, "campaign_id": campaign_id}
    for row in AD_COUNTS.of(database).find(wanted, session=session):
        by_zone[row["site_id"], row["zone_id"]] |= _counts(row)
    return by_zone


def of_zone(
    database: Database[Document], session: ClientSession, site_id: str, zone_id: str
) -> dict[AdKey, ClickCounts]:
    """Return the counts of every ad in a zone, including ads that have left it."""
    found: dict[AdKey, ClickCounts] = {}
    zone = {"site_id": site_id, "zone_id": zone_id}
    for row in AD_COUNTS.of(database).find(zone, session=session):
        found |= _counts(row)
    return found


def _counts(row: AdCount) -> dict[AdKey, ClickCounts]:
    key = row["campaign_id"], row["ad_unit_id"]
    return {key: ClickCounts(row["impressions"], row["clicks"])}


def counted_zones(database: Database[Document]) -> list[tuple[str, str]]:
    """Return the zones with counts, as (site, zone)."""
    zone = {"site_id": "$site_id", "zone_id": "$zone_id"}
    found = AD_COUNTS.read_as(GroupedZone, database).aggregate(
        [{"$sort": {"site_id": 1, "zone_id": 1}}, {"$group": {"_id": zone}}]
    )
    return [(each["_id"]["site_id"], each["_id"]["zone_id"]) for each in found]
