"""Refilling zones by the clock: waiting rows enter where there is room for them."""

import random
from collections import Counter
from collections.abc import Sequence

import pymongo
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib import deadlines
from chalicelib.ads.ids import advertiser_of
from chalicelib.ads.inventory import fitting, placing, waiting
from chalicelib.ads.inventory.campaigns import CAMPAIGNS, StoredTarget
from chalicelib.ads.inventory.fitting import Reason, Rules, rank, refusal
from chalicelib.ads.inventory.rows import BRIEF_ROW, BriefRows, Ranked
from chalicelib.ads.inventory.waiting import WaitingRow, ZoneKey
from chalicelib.ads.inventory.zones import ZONES, any_of
from chalicelib.database import Document, in_transaction
from chalicelib.errors import Problem
from chalicelib.observability.logs import log

# Zones that one run reads, and campaigns that it lets enter; the next run goes on.
MAX_ZONES = 200
MAX_ENTERED = 200
# After this part of the remaining time a run starts no further campaign.
TIME_SHARE = 0.4
# The longest that one campaign's entry may take.
ENTER_TIMEOUT_SECONDS = 2
_BY_COMPETITION = ("advertiser_share", "zone_full")
_STATE = {
    "floor_ecpm_micros": 1,
    "allow_html": 1,
    "allowed_advertisers": 1,
    "blocked_advertisers": 1,
    "ads": {"$map": {"input": "$ads", "in": BRIEF_ROW}},
}


class ZoneState(Rules, BriefRows):
    """A zone's rules, and its rows in brief."""


def refill(database: Database[Document], rng: random.Random) -> int:
    """Place waiting campaigns in zones with new room or rules; return the number of placings.

    The zones come in random order, so that a run that ends early starves none. The run stops after
    TIME_SHARE of the invocation's remaining time, to leave time for the next steps. Two runs at
    once, or a run that does not start, do no harm.
    """
    has_time, entered = deadlines.share(TIME_SHARE), 0
    for zone in waiting.awaited_zones(database, rng, MAX_ZONES):
        if not has_time():
            break
        for campaign_id in _next(database, zone):
            if entered >= MAX_ENTERED or not has_time():
                return entered
            entered += _enter(database, zone, campaign_id)
    return entered


def _next(database: Database[Document], zone: ZoneKey) -> list[str]:
    """Return the campaigns to place in a zone.

    First come the campaigns of fitting rows, the best-paying first; then the campaigns of rows
    with a stale reason.

    If the zone is gone, set the reason of its waiting rows and return [].
    """
    this = {"site_id": zone[0], "zone_id": zone[1]}
    state = ZONES.read_as(ZoneState, database).find_one(this, _STATE)
    if state is None:
        waiting.rename(database, zone, "unknown_zone")
        return []
    rows = waiting.best_in_zone(database, zone, fitting.MAX_ADS_OF_ADVERTISER)
    winners = [row["campaign_id"] for row in fitting_rows(state, rows)]
    # The settings have changed: placing these rows again stores their present reason.
    stale = [row["campaign_id"] for row in rows if _is_told_wrong(state, row)]
    return list(dict.fromkeys([*winners, *stale]))


def fitting_rows(zone: ZoneState, rows: Sequence[WaitingRow]) -> list[Ranked]:
    """Return the waiting rows that would get a place in a zone, the best-paying first."""
    eligible = [row for row in rows if _refusal(zone, row) is None]
    of_advertiser: Counter[str] = Counter()
    found: list[Ranked] = []
    count = 0
    for row, is_new in rank([*zone["ads"]], eligible):
        advertiser = advertiser_of(row["campaign_id"])
        if of_advertiser[advertiser] == fitting.MAX_ADS_OF_ADVERTISER:
            continue
        if count == fitting.MAX_ADS:
            break
        of_advertiser[advertiser] += 1
        count += 1
        if is_new:
            found.append(row)
    return found


def _refusal(zone: Rules, row: WaitingRow) -> Reason | None:
    return refusal(zone, row, row["creative_type"])


def _is_told_wrong(zone: Rules, row: WaitingRow) -> bool:
    why = _refusal(zone, row)
    return row["reason"] not in _BY_COMPETITION if why is None else why != row["reason"]


def _enter(database: Database[Document], zone: ZoneKey, campaign_id: str) -> bool:
    """Place one campaign in a zone; return whether this transaction placed the campaign.

    A campaign that is not active or does not target the zone stops waiting there instead. The rows
    of a placed campaign may all wait again, with a new reason.
    """
    target: StoredTarget = {"site_id": zone[0], "zone_id": zone[1]}

    def work(session: ClientSession) -> bool:
        this = {"_id": campaign_id, "status": "active", "targets": target}
        campaign = CAMPAIGNS.of(database).find_one(this, session=session)
        if campaign is None:
            waiting.remove(database, session, campaign_id, any_of([target]))
            return False
        placing.enter(database, session, campaign, [target])
        return True

    try:
        with pymongo.timeout(ENTER_TIMEOUT_SECONDS):
            return in_transaction(database, work)
    except Problem as problem:
        fields = {"campaign_id": campaign_id, "reason": problem.code}
        log.warning("zone not refilled", extra={"fields": fields})
        return False
