"""Campaigns that want a place in a zone."""

import random
from typing import Any

from chalicelib.ads.inventory import refilling, waiting
from chalicelib.runtime import Runtime
from tests.ads.support.factories import (
    activate,
    cpm,
    put_campaign,
)


def add(runtime: Runtime, campaign_id: str, bid_micros: int, *targets: str, **changes: Any) -> None:
    put_campaign(runtime, campaign_id, *targets, pricing=cpm(bid_micros), **changes)
    activate(runtime, campaign_id)


def reasons(runtime: Runtime, campaign_id: str) -> dict[str, str]:
    """Why each of a campaign's ad units waits, by the zone and its id."""
    return {
        f"{each['site_id']}/{each['zone_id']}/{unit}": each["reason"]
        for each in waiting.list_unplaced_units(runtime.database, campaign_id)
        for unit in each["ad_unit_ids"]
    }


def refill(runtime: Runtime) -> int:
    return refilling.refill(runtime.database, random.Random(1))
