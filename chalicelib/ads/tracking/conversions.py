"""Conversions: what visitors did at an advertiser's after an ad, credited to that ad."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from chalicelib.ads.tracking import beacons
from chalicelib.ads.tracking.events import AdEvent
from chalicelib.ads.visitors import profiles
from chalicelib.ads.visitors.profiles import LISTS, Entry, History, Met
from chalicelib.runtime import Runtime

# What one conversion may be worth: 100,000 of the currency.
MAX_VALUE_MICROS = 10**11
# How long after an event a conversion is still its work; a click goes before an impression.
CREDITED: Mapping[Literal["click", "impression"], timedelta] = {
    "click": timedelta(days=30),
    "impression": timedelta(days=1),
}


@dataclass(frozen=True)
class Conversion:
    """What an advertiser's page tells: whose visitor bought, for how much, by which order."""

    advertiser: str
    visitor: str
    value_micros: int = 0
    order: str | None = None


def record(runtime: Runtime, conversion: Conversion) -> bool:
    """Credit a conversion to the visitor's last click, else last impression; tell whether to one.

    It counts once for each order; without an order, once for each ad of a decision, which is
    credited with at most `visitors.MAX_CONVERSIONS`.
    """
    now = runtime.now()
    advertiser = conversion.advertiser
    profile = profiles.read(profiles.undecoded(runtime.database), conversion.visitor, [advertiser])
    credited = _credited(profile.histories.get(advertiser, {}), now)
    if credited is None:
        return False
    event = AdEvent(
        type="conversion",
        decision=credited["decision"],
        slot=credited["slot"],
        campaign_id=f"{advertiser}:{credited['campaign']}",
        ad_unit_id=credited["ad_unit_id"],
        site_id=credited["site_id"],
        zone_id=credited["zone_id"],
        price_micros=0,
        lease_id=None,
        ts=now,
        order=conversion.order,
        value_micros=conversion.value_micros,
    )
    entry: Entry = {**credited, "ts": now}
    met = Met(advertiser, "conversion", entry, credited["ts"])
    if not profiles.add_conversion(runtime.database, conversion.visitor, met):
        return False
    beacons.take_down(runtime, event)
    return True


def _credited(history: History, now: datetime) -> Entry | None:
    """Return the event that a conversion is credited to; lists are in the order of time."""
    for kind, window in CREDITED.items():
        events = history.get(LISTS[kind], ())
        if events and now - window < events[-1]["ts"] <= now:
            return {**events[-1]}
    return None
