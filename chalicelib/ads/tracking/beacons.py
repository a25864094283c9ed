"""What a page and a click tell: events of signed offers, on their way to be counted."""

from datetime import datetime, timedelta
from typing import Any

from chalicelib.ads.errors import UnknownCampaign
from chalicelib.ads.inventory.campaigns import CAMPAIGNS, Pricing, price_micros
from chalicelib.ads.tracking import counting, tokens
from chalicelib.ads.tracking.bots import is_bot
from chalicelib.ads.tracking.events import AdEvent
from chalicelib.ads.tracking.tokens import Offer, Purpose
from chalicelib.ads.visitors import profiles
from chalicelib.ads.visitors.profiles import Entry, Met
from chalicelib.database import Document
from chalicelib.runtime import Runtime

TOKEN_LIFETIME = timedelta(hours=24)


def impression_offer(offer: Offer, pricing: Pricing) -> Offer:
    """Return the offer with the price of an impression, which a CPM ad pays."""
    price = price_micros(pricing) if pricing["type"] == "cpm" else 0
    return offer._replace(price_micros=price)


def click_offer(offer: Offer, pricing: Pricing) -> Offer:
    """Return the offer with the price of a click, which a CPC ad pays, and out of no lease."""
    price = price_micros(pricing) if pricing["type"] == "cpc" else 0
    return offer._replace(price_micros=price, lease_id=None)


def urls(runtime: Runtime, offer: Offer, pricing: Pricing) -> Document:
    """Return the `impression_url` and the `click_url` of an ad, under PLAZA_PUBLIC_URL."""
    base, keys = runtime.settings.public_url, runtime.settings.signing_keys
    seen = tokens.sign(impression_offer(offer, pricing), "impression", keys)
    clicked = tokens.sign(click_offer(offer, pricing), "click", keys)
    return {
        "impression_url": f"{base}/ads/events/{seen}",
        "click_url": f"{base}/ads/click/{clicked}",
    }


def record_impression(runtime: Runtime, token: str, user_agent: str | None) -> None:
    """Take down that an ad was seen; raises InvalidToken or TokenExpired."""
    _record(runtime, "impression", token, user_agent)


def record_click(runtime: Runtime, token: str, user_agent: str | None) -> str:
    """Take down that an ad was clicked; return the URL that its campaign leads to.

    Raises InvalidToken, TokenExpired, and UnknownCampaign where the ad is no more.
    """
    now = runtime.now()
    offer = tokens.verify(token, "click", runtime.settings.signing_keys, now)
    landing_url = _landing_url(runtime, offer)
    _record(runtime, "click", token, user_agent)
    return landing_url


def take_down(runtime: Runtime, *happened: AdEvent) -> None:
    """Hand events to the queue; where it refuses, do the worker's work at once."""
    if not runtime.queues.send(*happened):
        counting.count_and_bill(runtime.database, happened, runtime.now(), runtime.random)


def event_of(offer: Offer, kind: Purpose, now: datetime, **details: Any) -> AdEvent:
    """Return the event of an offer."""
    return AdEvent(
        type=kind,
        decision=offer.decision,
        slot=offer.slot,
        campaign_id=offer.campaign_id,
        ad_unit_id=offer.ad_unit_id,
        site_id=offer.site_id,
        zone_id=offer.zone_id,
        price_micros=offer.price_micros,
        lease_id=offer.lease_id,
        ts=now,
        **details,
    )


def _record(runtime: Runtime, kind: Purpose, token: str, user_agent: str | None) -> None:
    now = runtime.now()
    offer = tokens.verify(token, kind, runtime.settings.signing_keys, now)
    event = event_of(offer, kind, now, is_bot=is_bot(user_agent))
    take_down(runtime, event)
    if offer.visitor is not None and not event.is_bot:
        advertiser, _, campaign = offer.campaign_id.partition(":")
        entry: Entry = {
            "ts": now,
            "campaign": campaign,
            "ad_unit_id": offer.ad_unit_id,
            "site_id": offer.site_id,
            "zone_id": offer.zone_id,
            "decision": offer.decision,
            "slot": offer.slot,
        }
        served_at = offer.expires_at - TOKEN_LIFETIME
        profiles.add(runtime.database, offer.visitor, Met(advertiser, kind, entry, served_at))


def _landing_url(runtime: Runtime, offer: Offer) -> str:
    urls = {"ad_units.ad_unit_id": 1, "ad_units.creative.landing_url": 1}
    campaign = CAMPAIGNS.of(runtime.database).find_one({"_id": offer.campaign_id}, urls)
    for unit in campaign["ad_units"] if campaign else ():
        if unit["ad_unit_id"] == offer.ad_unit_id:
            return unit["creative"]["landing_url"]
    raise UnknownCampaign
