"""A decision: the ads that answer one request for a zone."""

import random
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from chalicelib.ads.inventory import creatives
from chalicelib.ads.inventory.campaigns import StoredPricing, price_micros
from chalicelib.ads.inventory.creatives import StoredCreative
from chalicelib.ads.serving import frames
from chalicelib.ads.serving.cache import ZoneCache
from chalicelib.ads.serving.compiled_zone import Ad, CompiledZone
from chalicelib.ads.serving.forms import DecisionAnswer, ShownCreative
from chalicelib.ads.serving.selection import Context, choose
from chalicelib.ads.tracking import beacons
from chalicelib.ads.tracking.events import AdEvent
from chalicelib.ads.tracking.tokens import Offer
from chalicelib.ads.visitors import profiles
from chalicelib.ads.visitors.histories import ProfileReader, Served
from chalicelib.ids import new_id
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

# The price of a bot's events, whatever the ad's own pricing.
_FREE: StoredPricing = {"type": "cpm", "bid_micros": 0}
# The most attempts of a decision. In each round, at least one of a visitor's simultaneous requests
# succeeds.
MAX_ROUNDS = 20


@dataclass(frozen=True)
class AdRequest:
    """A request for ads; without a visitor it reads and writes no profile.

    A bot gets the ads that are due, so that a preview looks like the page. It leases nothing, and
    its offers cost nothing. `is_ahead`: a browser loads the page before a person opens it. Its ads
    count once a person sees them. A zone that counts decisions takes the request for a bot's.
    """

    site_id: str
    zone_id: str
    visitor: str | None = None
    keywords: tuple[str, ...] = ()
    count: int = 1
    repeat: bool = False
    is_bot: bool = False
    is_ahead: bool = False

    def context(self, now: datetime, explore_rate: float) -> Context:
        """Return the input of the choice."""
        is_anonymous = self.visitor is None
        return Context(now, self.keywords, self.count, self.repeat, explore_rate, is_anonymous)


class Placement(NamedTuple):
    """An ad of a decision; the slot distinguishes it from the decision's other ads.

    `lease_id`: the lease that pays its impression. None: a CPC ad, or a bot's request.
    """

    slot: int
    ad: Ad
    creative: StoredCreative
    lease_id: str | None


class Decision(NamedTuple):
    """A decision, its time, and the version of its zone.

    The id is the seed of the choice too, so that Plaza can explain a decision later.
    """

    id: str
    ts: datetime
    asked: AdRequest
    zone: CompiledZone
    placements: tuple[Placement, ...] = ()


def decide(runtime: Runtime, warm: ZoneCache, asked: AdRequest) -> Decision:
    """Choose ads for a zone. If the zone counts decisions, record the ads as impressions.

    Raises UnknownZone.
    """
    now = runtime.now()
    zone = warm.zone(asked.site_id, asked.zone_id, now)
    if zone.counts_decisions and asked.is_ahead:
        # Such a zone counts the decision itself, and a person may never see a page loaded ahead.
        asked = replace(asked, visitor=None, is_bot=True)
    decision = Decision(new_id(now, runtime.random), now, asked, zone)
    if not zone.counts_decisions:
        return _decide(runtime, warm, decision, profile_reader(warm, decision))
    if asked.visitor is None:
        decision = _decide(runtime, warm, decision, profile_reader(warm, decision))
    else:
        decision = _decide_and_record(runtime, warm, decision, asked.visitor)
    served = [_impression(decision, placement) for placement in decision.placements]
    beacons.send(runtime, *served)
    return decision


def profile_reader(warm: ZoneCache, decision: Decision) -> ProfileReader:
    """Return a reader of the profile of the decision's visitor, if there is a visitor."""
    zone = decision.zone
    return ProfileReader(warm.profiles, decision.asked.visitor, zone.advertisers)


def _decide(runtime: Runtime, warm: ZoneCache, decision: Decision, read: ProfileReader) -> Decision:
    """Return the decision with its ads, each with a creative and, for a CPM ad, a lease.

    An ad without a lease that it needs, without a creative that the zone allows, or without its
    large creative (gone since the zone's compilation) gives way to the next best ad.
    """
    found: dict[tuple[str, str], tuple[StoredCreative, str | None]] = {}
    drawn: set[str] = set()

    def shows(ad: Ad) -> bool:
        creative = ad.creative if ad.creative_id is None else warm.creative(ad.creative_id)
        if creative is None or (creative["type"] == "html" and not decision.zone.allows_html):
            return False
        # The choice skips a second ad of a campaign, so this ad draws no lease.
        if ad.campaign_id in drawn and not decision.asked.repeat:
            return True
        lease_id = None
        if ad.pricing["type"] == "cpm" and not decision.asked.is_bot:
            lease_id = warm.leases.draw(ad.campaign_id, price_micros(ad.pricing))
            if lease_id is None:
                return False
        drawn.add(ad.campaign_id)
        found[ad.campaign_id, ad.ad_unit_id] = creative, lease_id
        return True

    context = decision.asked.context(decision.ts, runtime.settings.explore_rate)
    ads = choose(decision.zone, context, read, seed_rng(decision.id), shows)
    placements = (
        Placement(slot, ad, *found[ad.campaign_id, ad.ad_unit_id]) for slot, ad in enumerate(ads)
    )
    return decision._replace(placements=tuple(placements))


def seed_rng(decision_id: str) -> random.Random:
    """Return a random generator with the decision's id as its seed: one id, the same draws."""
    return random.Random(decision_id)  # noqa: S311 - a choice among ads is no secret


def _decide_and_record(
    runtime: Runtime, warm: ZoneCache, decision: Decision, visitor: str
) -> Decision:
    """Decide, and record the ads in the visitor's profile; return the decision.

    If the profile has changed in between, decide again: two requests at once must not defeat a
    cap. After MAX_ROUNDS the decision has no ads, since an uncounted ad may be over its cap.
    """
    for _ in range(MAX_ROUNDS):
        read = profile_reader(warm, decision)
        decided = _decide(runtime, warm, decision, read)
        # Read even without a cap: the write is bound to the revision of the read.
        profile = read({placement.ad.advertiser for placement in decided.placements})
        entries = [
            (each.ad.advertiser, _to_served(decided, each).entry(decided.ts))
            for each in decided.placements
        ]
        if profiles.record(runtime.database, visitor, profile, entries, decision.id):
            return decided
        _put_back(warm, decided)
    log.warning("decision not recorded", extra={"fields": {"zone": decision.asked.zone_id}})
    return decision


def _put_back(warm: ZoneCache, decision: Decision) -> None:
    """Return the money of a discarded decision to its leases."""
    for placement in decision.placements:
        ad = placement.ad
        if placement.lease_id is not None:
            warm.leases.put_back(ad.campaign_id, placement.lease_id, price_micros(ad.pricing))


def _impression(decision: Decision, placement: Placement) -> AdEvent:
    """Return the impression of an ad in a zone that counts decisions."""
    offer = beacons.impression_offer(_offer(decision, placement), _pricing(decision, placement))
    return beacons.event_of(offer, "impression", decision.ts, is_bot=decision.asked.is_bot)


def _pricing(decision: Decision, placement: Placement) -> StoredPricing:
    return _FREE if decision.asked.is_bot else placement.ad.pricing


def _offer(decision: Decision, placement: Placement) -> Offer:
    return Offer(
        _to_served(decision, placement),
        visitor=decision.asked.visitor,
        price_micros=0,
        lease_id=placement.lease_id,
        expires_at=decision.ts + beacons.TOKEN_LIFETIME,
    )


def _to_served(decision: Decision, placement: Placement) -> Served:
    zone, ad = decision.zone, placement.ad
    return Served(
        decision.id, placement.slot, ad.campaign_id, ad.ad_unit_id, zone.site_id, zone.zone_id
    )


def answer(runtime: Runtime, decision: Decision) -> DecisionAnswer:
    """Return the API's form of a decision."""
    return {
        "id": decision.id,
        "size": {"width": decision.zone.size["width"], "height": decision.zone.size["height"]},
        "ads": [
            {
                "campaign_id": placement.ad.campaign_id,
                "ad_unit_id": placement.ad.ad_unit_id,
                "creative": _to_creative(runtime, decision, placement),
                **beacons.urls(runtime, _offer(decision, placement), _pricing(decision, placement)),
            }
            for placement in decision.placements
        ],
    }


def _to_creative(runtime: Runtime, decision: Decision, placement: Placement) -> ShownCreative:
    """Return a page's form of a creative: in place of markup, the address of its frame."""
    ad, creative = placement.ad, placement.creative
    if creative["type"] != "html":
        return creative
    creative_id = ad.creative_id or creatives.creative_id(ad.campaign_id, ad.ad_unit_id, creative)
    frame_url = frames.sign_url(runtime, creative_id, decision.ts)
    return {"type": "html", "landing_url": creative["landing_url"], "frame_url": frame_url}
