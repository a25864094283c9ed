"""Frequency caps: whether a visitor may meet an ad once more."""

from collections.abc import Sequence
from datetime import datetime

from chalicelib.ads.serving.compiled_zone import Ad, FrequencyCap
from chalicelib.ads.visitors.histories import LISTS, MAX_EVENTS, Entry, VisitorProfile


def refusing_cap(ad: Ad, profile: VisitorProfile, now: datetime) -> FrequencyCap | None:
    """Return the first of the ad's caps that refuses it to this visitor now, or None.

    An event counts from its millisecond on until `window` later, without the end. A bound of
    the profile never makes a cap leak: a full list that lies wholly within a window may have
    lost events of it, and a full profile may have refused an advertiser's, so both refuse.
    Source: "MongoDB Applied Design Patterns", ch. 7, design 2 (`ad_is_acceptable`).
    """
    history = profile.histories.get(ad.advertiser)
    if history is None:
        return ad.caps[0] if ad.caps and profile.is_full else None
    for cap in ad.caps:
        if _is_reached(cap, ad, history.get(LISTS[cap.event], ()), now):
            return cap
    return None


def _is_reached(cap: FrequencyCap, ad: Ad, events: Sequence[Entry], now: datetime) -> bool:
    since = now - cap.window
    met = 0
    for event in reversed(events):
        if event["ts"] <= since:
            return False
        met += _concerns(cap, ad, event)
        if met == cap.limit:
            return True
    return len(events) >= MAX_EVENTS


def _concerns(cap: FrequencyCap, ad: Ad, event: Entry) -> bool:
    match cap.scope:
        case "advertiser":
            return True
        case "campaign":
            return event["campaign"] == ad.campaign
        case _:
            same_unit = event["ad_unit_id"] == ad.ad_unit_id
            return same_unit and event["campaign"] == ad.campaign
