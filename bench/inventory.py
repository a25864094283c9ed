"""Zones, campaigns and a visitor for measuring ads, the same at every run."""

import random
from datetime import datetime, timedelta
from typing import Any

from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.campaigns.forms import Campaign
from chalicelib.ads.inventory import zones
from chalicelib.ads.inventory.forms import Zone
from chalicelib.ads.visitors import profiles
from chalicelib.runtime import Runtime

SITE = "bench"
UNITS = 50
WORDS = [f"word-{number}" for number in range(500)]
KEYWORDS = ",".join(WORDS[:3])
# A zone of ten ads has ten advertisers; the largest has more than a profile holds.
ADVERTISERS = 300


def add_zone(runtime: Runtime, zone_id: str, ads: int) -> None:
    """Fill a zone with campaigns of up to 50 ads each, from few advertisers to many."""
    put_zone(runtime, zone_id)
    rng = random.Random(zone_id)  # noqa: S311 - the same data every time
    units = UNITS if ads > UNITS else 1
    for number in range(ads // units):
        advertiser = f"advertiser-{number % ADVERTISERS}"
        campaign_id = f"{advertiser}:{zone_id}-{number}"
        put_campaign(runtime, campaign_id, [zone_id], units, rng)
        lifecycle.activate(runtime.database, campaign_id, runtime.now())


def put_zone(runtime: Runtime, zone_id: str) -> None:
    """Make an empty zone."""
    size = {"width": 300, "height": 250}
    zones.put(runtime.database, SITE, zone_id, Zone.model_validate({"size": size}))


def put_campaign(
    runtime: Runtime, campaign_id: str, zone_ids: list[str], units: int, rng: random.Random
) -> dict[str, Any]:
    """Make a campaign of these zones and return its body."""
    body = campaign_body(zone_ids, units, rng, runtime.now())
    campaign = Campaign.model_validate(body)
    lifecycle.put(runtime, campaign_id, campaign)
    return body


def campaign_body(
    zone_ids: list[str], units: int, rng: random.Random, now: datetime
) -> dict[str, Any]:
    """Return what makes a campaign: a random bid, and ads with eight of 500 keywords each."""
    flight = {"starts_at": now - timedelta(days=1), "ends_at": now + timedelta(days=30)}
    return {
        "flight": flight,
        "pricing": {"type": "cpm", "bid_micros": rng.randint(1, 5_000) * 1_000},
        "budget": {"total_micros": 10**12},
        "targets": [{"site_id": SITE, "zone_id": zone_id} for zone_id in zone_ids],
        "ad_units": [
            {
                "id": f"unit-{number}",
                "keywords": rng.sample(WORDS, 8),
                "creative": {
                    "type": "text",
                    "landing_url": "https://example.com/spring",
                    "headline": "Spring is here, and so is everything for it",
                    "body": "Free delivery until Sunday",
                },
            }
            for number in range(units)
        ],
    }


def add_visitor(runtime: Runtime, visitor: str, advertisers: int, impressions: int) -> None:
    """Make a profile with this number of old impressions of each of these advertisers."""
    seen = runtime.now() - timedelta(days=2)
    entry = {
        "campaign": "another",
        "ad_unit_id": "unit-1",
        "site_id": SITE,
        "zone_id": "another",
        "decision": "0123456789abcdef",
        "slot": 0,
    }
    events = [{"ts": seen + timedelta(seconds=n), **entry} for n in range(impressions)]
    histories = {f"advertiser-{n}": {"impressions": events} for n in range(advertisers)}
    runtime.database[profiles.PROFILES.name].insert_one(
        {
            "_id": visitor,
            "revision": "r",
            "advertiser_count": advertisers,
            "last_seen": runtime.now(),
            "trim_at": runtime.now() + timedelta(days=28),
            "advertisers": histories,
        }
    )
