"""Rows that wait for a place in a zone, after a refusal or a departure.

`ad.waiting` holds one document for each pair of an active campaign's row and a targeted zone
without that row. Every change of a campaign's status or rows removes its documents in the same
transaction, so two concurrent changes conflict at least here.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import TypedDict

from pymongo import ASCENDING, IndexModel, ReplaceOne, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib import deadlines
from chalicelib.ads.inventory.campaigns import StoredPricing
from chalicelib.ads.inventory.fitting import Reason, Refused
from chalicelib.ads.inventory.rows import creative_type, key
from chalicelib.database import Collection, Document
from chalicelib.runtime import Runtime


class Unplaced(TypedDict):
    """A campaign's ad units without a place in a zone, and the reason."""

    site_id: str
    zone_id: str
    reason: Reason
    ad_unit_ids: list[str]


class WaitingRow(TypedDict):
    """A row without a place in a zone, with the reason and its eCPM there."""

    _id: str
    campaign_id: str
    ad_unit_id: str
    site_id: str
    zone_id: str
    pricing: StoredPricing
    ecpm_micros: int
    creative_type: str
    reason: Reason


WAITING = Collection(
    "ad.waiting",
    WaitingRow,
    indexes=(
        IndexModel([("campaign_id", ASCENDING)]),
        IndexModel([("site_id", ASCENDING), ("zone_id", ASCENDING)]),
    ),
    shard_key={"campaign_id": 1},
)
ZoneKey = tuple[str, str]
# (pricing, (campaign id, ad unit id)) -> the ad's eCPM in the zone, in micros.
Price = Callable[[StoredPricing, tuple[str, str]], int]


def add(
    database: Database[Document],
    session: ClientSession,
    refused: Iterable[tuple[ZoneKey, Refused]],
) -> None:
    """Store rows without a place, each with its zone and the reason."""
    operations = [
        ReplaceOne(
            {"_id": document["_id"], "campaign_id": document["campaign_id"]}, document, upsert=True
        )
        for document in (_document(zone, each) for zone, each in refused)
    ]
    if operations:
        WAITING.of(database).bulk_write(operations, session=session, ordered=False)


def _document(zone: ZoneKey, refused: Refused) -> WaitingRow:
    row, reason = refused
    site_id, zone_id = zone
    return {
        "_id": f"{row['campaign_id']}/{site_id}/{zone_id}/{row['ad_unit_id']}",
        "campaign_id": row["campaign_id"],
        "ad_unit_id": row["ad_unit_id"],
        "site_id": site_id,
        "zone_id": zone_id,
        "pricing": row["pricing"],
        "ecpm_micros": row["ecpm_micros"],
        "creative_type": creative_type(row),
        "reason": reason,
    }


def remove(
    database: Database[Document],
    session: ClientSession,
    campaign_id: str,
    zones: Document | None = None,
) -> None:
    """Remove a campaign's rows in the zones of a filter; None: in all zones."""
    wanted = {"campaign_id": campaign_id, **(zones or {})}
    WAITING.of(database).delete_many(wanted, session=session)


def rename(database: Database[Document], zone: ZoneKey, reason: Reason) -> None:
    """Set the reason of every row that waits in a zone.

    Not atomic: a failed call has changed some rows, and a repeat changes the rest.
    """
    wanted = {"site_id": zone[0], "zone_id": zone[1], "reason": {"$ne": reason}}
    WAITING.of(database).update_many(wanted, {"$set": {"reason": reason}})


def list_unplaced_units(database: Database[Document], campaign_id: str) -> list[Unplaced]:
    """Return a campaign's waiting rows by zone and reason, sorted."""
    grouped: defaultdict[tuple[str, str, Reason], list[str]] = defaultdict(list)
    for row in WAITING.of(database).find({"campaign_id": campaign_id}):
        grouped[row["site_id"], row["zone_id"], row["reason"]].append(row["ad_unit_id"])
    return [
        {"site_id": site, "zone_id": zone, "reason": reason, "ad_unit_ids": sorted(units)}
        for (site, zone, reason), units in sorted(grouped.items())
    ]


def has_priced_by_rate(database: Database[Document], zone: ZoneKey) -> bool:
    """Return whether a CPC row, whose price follows its clicks, waits for a place in a zone."""
    wanted = {"site_id": zone[0], "zone_id": zone[1], "pricing.type": {"$ne": "cpm"}}
    return WAITING.of(database).find_one(wanted, {"_id": 1}) is not None


def reprice(runtime: Runtime, zone: ZoneKey, price_of: Price) -> None:
    """Store new eCPMs of the CPC rows that wait in a zone, for a quarter of the remaining time.

    The campaigns come in random order, so that a run that ends early starves none. A row with new
    pricing meanwhile stays unchanged.
    """
    rows, has_time = WAITING.of(runtime.database), deadlines.share(0.25)
    wanted = {"site_id": zone[0], "zone_id": zone[1], "pricing.type": {"$ne": "cpm"}}
    campaign_ids = rows.distinct("campaign_id", wanted)
    runtime.random.shuffle(campaign_ids)
    for campaign_id in campaign_ids:
        if not has_time():
            return
        updates = []
        for row in rows.find({**wanted, "campaign_id": campaign_id}):
            price = price_of(row["pricing"], key(row))
            if price != row["ecpm_micros"]:
                this = {each: row[each] for each in ("_id", "campaign_id", "pricing")}
                updates.append(UpdateOne(this, {"$set": {"ecpm_micros": price}}))
        if updates:
            rows.bulk_write(updates, ordered=False)


def best_in_zone(database: Database[Document], zone: ZoneKey, most: int) -> list[WaitingRow]:
    """Return the best-paying rows that wait in a zone, up to `most` per advertiser and reason.

    While an advertiser's best rows stay out for a reason, its other rows stay out too.
    """
    kind = {"advertiser": {"$first": {"$split": ["$campaign_id", ":"]}}, "reason": "$reason"}
    order = {"ecpm_micros": -1, "campaign_id": 1, "ad_unit_id": 1}
    best = {"$topN": {"n": most, "sortBy": order, "output": "$$ROOT"}}
    found = WAITING.of(database).aggregate(
        [
            {"$match": {"site_id": zone[0], "zone_id": zone[1]}},
            {"$group": {"_id": kind, "rows": best}},
            {"$unwind": "$rows"},
            {"$replaceWith": "$rows"},
        ]
    )
    return list(found)


def awaited_zones(database: Database[Document], rng: random.Random, most: int) -> list[ZoneKey]:
    """Return up to `most` zones with waiting rows, as (site, zone).

    Sites in random order, and each site's zones in random order. The index takes one step for each
    site and zone, however many rows wait.
    """
    rows = WAITING.of(database)
    sites = rows.distinct("site_id")
    rng.shuffle(sites)
    found: list[ZoneKey] = []
    for site_id in sites:
        zone_ids = rows.distinct("zone_id", {"site_id": site_id})
        rng.shuffle(zone_ids)
        found += [(site_id, zone_id) for zone_id in zone_ids]
        if len(found) >= most:
            break
    return found[:most]
