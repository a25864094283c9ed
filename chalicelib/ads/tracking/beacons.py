"""Impression beacons and clicks: verify the signed token and enqueue the event."""

from datetime import datetime, timedelta
from typing import TypedDict

from chalicelib.ads.errors import UnknownCampaign
from chalicelib.ads.ids import advertiser_of
from chalicelib.ads.inventory import former
from chalicelib.ads.inventory.campaigns import CAMPAIGNS, StoredPricing, price_micros
from chalicelib.ads.tracking import counting, tokens
from chalicelib.ads.tracking.events import AdEvent
from chalicelib.ads.tracking.tokens import Offer, Purpose
from chalicelib.ads.visitors import profiles
from chalicelib.ads.visitors.histories import Served
from chalicelib.ads.visitors.profiles import VisitorEvent
from chalicelib.runtime import Runtime

TOKEN_LIFETIME = timedelta(hours=24)


def impression_offer(offer: Offer, pricing: StoredPricing) -> Offer:
    """Return the offer at the price of an impression: 0, except for a CPM ad."""
    price = price_micros(pricing) if pricing["type"] == "cpm" else 0
    return offer._replace(price_micros=price)


def click_offer(offer: Offer, pricing: StoredPricing) -> Offer:
    """Return the offer at the price of a click: 0, except for a CPC ad. No lease pays it."""
    price = price_micros(pricing) if pricing["type"] == "cpc" else 0
    return offer._replace(price_micros=price, lease_id=None)


class Addresses(TypedDict):
    """The addresses of an ad's impression beacon and of its link."""

    impression_url: str
    click_url: str


def urls(runtime: Runtime, offer: Offer, pricing: StoredPricing) -> Addresses:
    """Return the `impression_url` and the `click_url` of an ad, under PLAZA_PUBLIC_URL."""
    base, keys = runtime.settings.public_url, runtime.settings.signing_keys
    seen = tokens.sign(impression_offer(offer, pricing), "impression", keys)
    clicked = tokens.sign(click_offer(offer, pricing), "click", keys)
    return {
        "impression_url": f"{base}/ads/events/{seen}",
        "click_url": f"{base}/ads/click/{clicked}",
    }


def record_impression(runtime: Runtime, token: str, *, by_person: bool) -> None:
    """Record an impression of an ad; raises InvalidToken or TokenExpired."""
    now = runtime.now()
    offer = tokens.verify(token, "impression", runtime.settings.signing_keys, now)
    _record(runtime, "impression", offer, now, by_bot=not by_person)


def record_click(runtime: Runtime, token: str, *, by_person: bool) -> str:
    """Record a click on an ad; return the last known URL of its landing page.

    An expired token returns the URL, but counts nothing. Raises InvalidToken, and UnknownCampaign
    from a year after the ad's removal.
    """
    now = runtime.now()
    offer = tokens.read(token, "click", runtime.settings.signing_keys)
    landing_url = _landing_url(runtime, offer.served)
    if now >= offer.expires_at:
        return landing_url
    _record(runtime, "click", offer, now, by_bot=not by_person)
    return landing_url


def send(runtime: Runtime, *events: AdEvent) -> None:
    """Send events to the queue; if it refuses them, count and bill them at once."""
    if not runtime.queues.send(*events):
        counting.count_and_bill(runtime, events)


def event_of(offer: Offer, kind: Purpose, now: datetime, *, is_bot: bool) -> AdEvent:
    """Return the event of an offer, with `now` as its time."""
    return AdEvent(
        type=kind,
        **offer.served._asdict(),
        price_micros=offer.price_micros,
        lease_id=offer.lease_id,
        ts=now,
        is_bot=is_bot,
    )


def _record(runtime: Runtime, kind: Purpose, offer: Offer, now: datetime, *, by_bot: bool) -> None:
    send(runtime, event_of(offer, kind, now, is_bot=by_bot))
    if offer.visitor is not None and not by_bot:
        served, served_at = offer.served, offer.expires_at - TOKEN_LIFETIME
        met = VisitorEvent(advertiser_of(served.campaign_id), kind, served.entry(now), served_at)
        profiles.add(runtime.database, offer.visitor, met)


def _landing_url(runtime: Runtime, served: Served) -> str:
    urls = {"ad_units.ad_unit_id": 1, "ad_units.creative.landing_url": 1}
    campaign = CAMPAIGNS.of(runtime.database).find_one({"_id": served.campaign_id}, urls)
    for unit in campaign["ad_units"] if campaign else ():
        if unit["ad_unit_id"] == served.ad_unit_id:
            return unit["creative"]["landing_url"]
    landing_url = former.find_page(runtime.database, served.campaign_id, served.ad_unit_id)
    if landing_url is None:
        raise UnknownCampaign
    return landing_url
