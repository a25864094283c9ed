"""Conversions: orders and the like at an advertiser, credited to an earlier click or impression."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from chalicelib.ads.tracking import beacons
from chalicelib.ads.tracking.events import AdEvent, is_repeat
from chalicelib.ads.visitors import histories, profiles
from chalicelib.ads.visitors.histories import LISTS, Entry, History, served_ad
from chalicelib.ads.visitors.profiles import VisitorEvent
from chalicelib.runtime import Runtime

# The longest time between an event and its conversion; a click takes precedence.
CREDITED: Mapping[Literal["click", "impression"], timedelta] = {
    "click": timedelta(days=30),
    "impression": timedelta(days=1),
}


@dataclass(frozen=True)
class Conversion:
    """An advertiser's report of a conversion: the visitor, the value, the order."""

    advertiser: str
    visitor: str
    value_micros: int = 0
    order: str | None = None


def record(runtime: Runtime, conversion: Conversion) -> bool:
    """Credit a conversion to the visitor's last click, else last impression.

    Return whether an ad gets the credit. An ad of a decision gets the credit of at most
    `profiles.MAX_CONVERSIONS` conversions, with or without orders. A repeat of a counted order gets
    no credit. The worker counts each order once; without an order, it counts one conversion for
    each ad of a decision.
    """
    now = runtime.now()
    advertiser = conversion.advertiser
    undecoded = profiles.raw_profiles(runtime.database)
    profile = histories.read(undecoded, conversion.visitor, [advertiser])
    credited = _find_credit(profile.histories.get(advertiser, {}), now)
    if credited is None:
        return False
    event = AdEvent(
        type="conversion",
        **served_ad(advertiser, credited)._asdict(),
        price_micros=0,
        lease_id=None,
        ts=now,
        order=conversion.order,
        value_micros=conversion.value_micros,
    )
    if event.order is not None and is_repeat(runtime.database, event):
        return False
    entry: Entry = {**credited, "ts": now}
    met = VisitorEvent(advertiser, "conversion", entry, credited["ts"])
    if not profiles.add_conversion(runtime.database, conversion.visitor, met):
        return False
    beacons.send(runtime, event)
    return True


def _find_credit(history: History, now: datetime) -> Entry | None:
    """Return the event that gets the credit of a conversion; None: no event is recent enough.

    Lists are in the order of time.
    """
    for kind, window in CREDITED.items():
        events = history.get(LISTS[kind], ())
        if events and now - window < events[-1]["ts"] <= now:
            return {**events[-1]}
    return None
