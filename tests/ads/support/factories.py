"""Campaigns and zones for the tests of the ad network."""

from collections.abc import Iterable
from typing import Any

import orjson

from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.campaigns.forms import Campaign
from chalicelib.ads.inventory import campaigns, placing, zones
from chalicelib.ads.inventory.campaigns import StoredCampaign, StoredPricing
from chalicelib.ads.inventory.forms import Zone
from chalicelib.ads.inventory.rows import AdRow
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from tests.support.http_client import Client

BANNER = {"width": 728, "height": 90}
LANDING_URL = "https://example.com/"


def creative(headline: str = "New for spring", **changes: Any) -> dict[str, Any]:
    """A text creative as a client sends it."""
    body = "Drive it today"
    return {
        "type": "text",
        "landing_url": LANDING_URL,
        "headline": headline,
        "body": body,
        **changes,
    }


def html(markup: str) -> dict[str, Any]:
    return {"type": "html", "landing_url": LANDING_URL, "html": markup}


def ad_unit(ad_unit_id: str = "one", **changes: Any) -> dict[str, Any]:
    return {"id": ad_unit_id, "creative": creative(ad_unit_id), **changes}


def cpm(bid_micros: int) -> StoredPricing:
    return {"type": "cpm", "bid_micros": bid_micros}


def target(name: str) -> dict[str, str]:
    """The target that `site/zone` names."""
    site_id, zone_id = name.split("/")
    return {"site_id": site_id, "zone_id": zone_id}


def campaign_body(*targets: str, **changes: Any) -> dict[str, Any]:
    """The body of a campaign that runs through March 2026, for `site/zone` targets."""
    return {
        "flight": {"starts_at": "2026-03-01T00:00:00Z", "ends_at": "2026-04-01T00:00:00Z"},
        "pricing": cpm(250_000),
        "budget": {"total_micros": 50_000_000},
        "targets": [target(name) for name in targets or ("blog/banner",)],
        "ad_units": [ad_unit()],
        **changes,
    }


def campaign(*targets: str, **changes: Any) -> Campaign:
    body = orjson.dumps(campaign_body(*targets, **changes))
    return Campaign.model_validate_json(body, strict=True)


def add_zones(runtime: Runtime, *names: str, **changes: Any) -> None:
    """Make zones that take HTML creatives, unless the changes say otherwise."""
    zone = Zone.model_validate({"size": BANNER, "can_hold_html": True, **changes})
    for name in names:
        zones.put(runtime.database, **target(name), zone=zone)


def put_campaign(
    runtime: Runtime, campaign_id: str, *targets: str, **changes: Any
) -> StoredCampaign:
    wanted = campaign(*targets, **changes)
    stored, _ = lifecycle.put(runtime, campaign_id, wanted)
    return stored


def activate(runtime: Runtime, *campaign_ids: str) -> None:
    for campaign_id in campaign_ids:
        lifecycle.activate(runtime.database, campaign_id, runtime.now())


def zone(runtime: Runtime, name: str) -> Document:
    found = runtime.database[zones.ZONES.name].find_one(target(name), {"_id": 0})
    assert found is not None, name
    return found


def placed(runtime: Runtime, name: str) -> list[str]:
    """The campaigns in a zone, one for each row, in the zone's order."""
    return [ad["campaign_id"] for ad in zone(runtime, name)["ads"]]


def expected_ads(stored: Iterable[StoredCampaign], name: str) -> list[AdRow]:
    """The rows that a zone must hold, by a plain reading of the campaigns."""
    rows = [
        row
        for campaign in stored
        if campaign["status"] == "active" and target(name) in campaign["targets"]
        for row in placing.rows(campaign)
    ]
    return sorted(rows, key=lambda ad: (-ad["ecpm_micros"], ad["campaign_id"], ad["ad_unit_id"]))


def assert_zones_agree(runtime: Runtime, *names: str) -> None:
    """Every zone holds what the campaigns say, in order."""
    stored = list(campaigns.CAMPAIGNS.of(runtime.database).find())
    for name in names:
        assert zone(runtime, name)["ads"] == expected_ads(stored, name), name


def advertiser(client: Client, name: str = "mercedes") -> Client:
    return client.as_("ann", roles=["advertiser"], advertiser=name)


def publisher(client: Client, *sites: str) -> Client:
    return client.as_("pat", roles=["publisher"], sites=list(sites or ("blog",)))
