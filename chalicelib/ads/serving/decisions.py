"""A decision: the ads that one request for a zone is answered with."""

import random
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from chalicelib.ads.inventory import creatives
from chalicelib.ads.inventory.campaigns import Pricing, price_micros
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
from chalicelib.ads.visitors.histories import Served
from chalicelib.ads.visitors.profile_reader import ProfileReader
from chalicelib.ids import new_id
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

# What an event of a bot's offer costs, whatever the ad's own pricing.
_FREE: Pricing = {"type": "cpm", "bid_micros": 0}
# Of one visitor's requests at once, at least one gets through in each round.
MAX_ROUNDS = 20


@dataclass(frozen=True)
class Asked:
    """A request for ads; without a visitor no profile is read or written.

    A bot is shown the ads that are due, so that a preview looks like the page; nothing is leased
    for it, and its offers cost nothing.
    """

    site_id: str
    zone_id: str
    visitor: str | None = None
    keywords: tuple[str, ...] = ()
    count: int = 1
    repeat: bool = False
    is_bot: bool = False

    def context(self, now: datetime, explore_rate: float) -> Context:
        """Return what the choice is made for."""
        nobody = self.visitor is None
        return Context(now, self.keywords, self.count, self.repeat, explore_rate, nobody)


class Placement(NamedTuple):
    """An ad of a decision; the slot tells it apart from the decision's others.

    The lease pays for its impression; an ad that is paid by the click has none, nor a bot's.
    """

    slot: int
    ad: Ad
    creative: StoredCreative
    lease_id: str | None


class Decision(NamedTuple):
    """What was decided, when, and over which version of the zone.

    The id is the seed of the choice too, so that a decision can be explained later.
    """

    id: str
    ts: datetime
    asked: Asked
    zone: CompiledZone
    placements: tuple[Placement, ...] = ()


def decide(runtime: Runtime, warm: ZoneCache, asked: Asked) -> Decision:
    """Choose ads for a zone; if the zone counts decisions, record them as impressions.

    Raises UnknownZone.
    """
    now = runtime.now()
    zone = warm.zone(asked.site_id, asked.zone_id, now)
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
    """Return a reader of the profile of the decision's visitor, who may be nobody."""
    zone = decision.zone
    return ProfileReader(warm.profiles, decision.asked.visitor, zone.advertisers)


def _decide(runtime: Runtime, warm: ZoneCache, decision: Decision, read: ProfileReader) -> Decision:
    """Return the decision with its ads, each with a creative and money for an impression.

    A large creative has gone when its campaign was changed after the zone was compiled. If
    that or the money is missing, the next best ad takes its place.
    """
    found: dict[tuple[str, str], tuple[StoredCreative, str | None]] = {}
    drawn: set[str] = set()

    def shows(ad: Ad) -> bool:
        creative = ad.creative if ad.creative_id is None else warm.creative(ad.creative_id)
        if creative is None or (creative["type"] == "html" and not decision.zone.allows_html):
            return False
        # An ad that is passed over, its campaign having one already, draws nothing.
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
    ads = choose(decision.zone, context, read, seeded(decision.id), shows)
    placements = (
        Placement(slot, ad, *found[ad.campaign_id, ad.ad_unit_id]) for slot, ad in enumerate(ads)
    )
    return decision._replace(placements=tuple(placements))


def seeded(decision_id: str) -> random.Random:
    """Return the randomness of a decision."""
    return random.Random(decision_id)  # noqa: S311 - a choice among ads is no secret


def _decide_and_record(
    runtime: Runtime, warm: ZoneCache, decision: Decision, visitor: str
) -> Decision:
    """Return the decision once its ads are recorded in the visitor's profile.

    It is made again if the profile has changed in between, so that two requests at once cannot
    defeat a cap. After MAX_ROUNDS nothing is shown: an ad that cannot be counted may be over its
    cap.
    """
    for _ in range(MAX_ROUNDS):
        read = profile_reader(warm, decision)
        decided = _decide(runtime, warm, decision, read)
        # Read even if no cap asked for it: the write is bound to what was read.
        profile = read({placement.ad.advertiser for placement in decided.placements})
        entries = [
            (each.ad.advertiser, _served(decided, each).entry(decided.ts))
            for each in decided.placements
        ]
        if profiles.record(runtime.database, visitor, profile, entries, decision.id):
            return decided
        _put_back(warm, decided)
    log.warning("decision not recorded", extra={"fields": {"zone": decision.asked.zone_id}})
    return decision


def _put_back(warm: ZoneCache, decision: Decision) -> None:
    """Return to its leases what a decision has drawn that is made again."""
    for placement in decision.placements:
        ad = placement.ad
        if placement.lease_id is not None:
            warm.leases.put_back(ad.campaign_id, placement.lease_id, price_micros(ad.pricing))


def _impression(decision: Decision, placement: Placement) -> AdEvent:
    """Return the impression of an ad that counts when it is served."""
    offer = beacons.impression_offer(_offer(decision, placement), _pricing(decision, placement))
    return beacons.event_of(offer, "impression", decision.ts, is_bot=decision.asked.is_bot)


def _pricing(decision: Decision, placement: Placement) -> Pricing:
    return _FREE if decision.asked.is_bot else placement.ad.pricing


def _offer(decision: Decision, placement: Placement) -> Offer:
    return Offer(
        _served(decision, placement),
        visitor=decision.asked.visitor,
        price_micros=0,
        lease_id=placement.lease_id,
        expires_at=decision.ts + beacons.TOKEN_LIFETIME,
    )


def _served(decision: Decision, placement: Placement) -> Served:
    zone, ad = decision.zone, placement.ad
    return Served(
        decision.id, placement.slot, ad.campaign_id, ad.ad_unit_id, zone.site_id, zone.zone_id
    )


def answer(runtime: Runtime, decision: Decision) -> DecisionAnswer:
    """Return the decision as it goes out."""
    return {
        "id": decision.id,
        "size": {"width": decision.zone.size["width"], "height": decision.zone.size["height"]},
        "ads": [
            {
                "campaign_id": placement.ad.campaign_id,
                "ad_unit_id": placement.ad.ad_unit_id,
                "creative": _shown(runtime, decision, placement),
                **beacons.urls(runtime, _offer(decision, placement), _pricing(decision, placement)),
            }
            for placement in decision.placements
        ],
    }


def _shown(runtime: Runtime, decision: Decision, placement: Placement) -> ShownCreative:
    """Return a creative as a page gets it: of markup, the address of its frame."""
    ad, creative = placement.ad, placement.creative
    if creative["type"] != "html":
        return creative
    creative_id = ad.creative_id or creatives.creative_id(ad.campaign_id, ad.ad_unit_id, creative)
    frame_url = frames.shown(runtime, creative_id, decision.ts)
    return {"type": "html", "landing_url": creative["landing_url"], "frame_url": frame_url}
