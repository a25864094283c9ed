"""Changes of campaigns and of their rows in zones; the campaigns are the system of record.

One transaction changes a campaign and its zones, and writes the campaign first. Two changes of one
campaign conflict at the campaign; changes of two campaigns in one zone conflict at the zone. The
later change starts again from the result of the first.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

import pymongo
from pymongo import ASCENDING, ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib import deadlines
from chalicelib.ads.budgets import balances, exhaustion
from chalicelib.ads.campaigns import asset_pictures
from chalicelib.ads.campaigns.asset_pictures import ShownAsset
from chalicelib.ads.campaigns.forms import Campaign
from chalicelib.ads.errors import CampaignDeleted, FlightOver
from chalicelib.ads.inventory import campaigns, creatives, former, placing, zones
from chalicelib.ads.inventory.campaigns import CAMPAIGNS, Status, StoredCampaign, StoredTarget, get
from chalicelib.database import Document, in_transaction
from chalicelib.errors import FieldError, InvalidRequest, Problem
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

# The time-out of a campaign's first try to end: many times the usual time with a few zones.
_END_TIMEOUT_SECONDS = 2


def put(
    runtime: Runtime,
    campaign_id: str,
    campaign: Campaign,
    assets: Mapping[str, ShownAsset] = MappingProxyType({}),
    by: str | None = None,
) -> tuple[StoredCampaign, bool]:
    """Create a draft or change a campaign; return it, and whether it is new.

    The zones of an active campaign change too. A flight in the past ends an active or exhausted
    campaign; a flight in the future or present pauses an ended campaign. A raised budget
    reactivates an exhausted campaign. `assets`: the assets among its pictures, by their URLs in
    the request. `by`: the caller, stored as the maker of a new campaign.

    Raises InvalidRequest for targets without a zone, BudgetCommitted for a budget below the spent
    and leased money, and CampaignDeleted.
    """
    database, now = runtime.database, runtime.now()
    definition = campaign.model_dump()
    asset_pictures.put_into(definition["ad_units"], assets)
    _check_targets(database, definition["targets"])

    def work(session: ClientSession) -> tuple[StoredCampaign, bool]:
        before = CAMPAIGNS.of(database).find_one({"_id": campaign_id}, session=session)
        if before is not None and before["status"] in campaigns.GONE:
            raise CampaignDeleted
        status = _status_after(before, over=definition["flight"]["end"] <= now)
        made = {"by": by, "made": now} if before is None else {}
        day = _day_of(database, session, before, campaign, now)
        fields = {**definition, "status": status, **made, **day}
        stored = _update(database, session, campaign_id, fields)
        after = exhaustion.follow(database, session, stored, now)
        creatives.follow(database, session, before, after)
        if before is not None:
            former.keep(database, session, before, after["ad_units"], now)
        _place_or_clear(database, session, before, after)
        return after, before is None

    return in_transaction(database, work)


def _day_of(
    database: Database[Document],
    session: ClientSession,
    before: StoredCampaign | None,
    campaign: Campaign,
    now: datetime,
) -> Document:
    """Return the update of a campaign's budget day for its new time zone and daily budget."""
    if before is None:
        return {}
    day = balances.day_in(before, campaign.time_zone, now)
    if campaign.budget.daily_micros is None:
        return day
    return day | balances.first_day_in(database, session, before, campaign.time_zone, now)


def activate(database: Database[Document], campaign_id: str, now: datetime) -> StoredCampaign:
    """Activate a campaign, put its ads into its zones, and return it. Idempotent.

    Decisions skip the ads until the flight starts. Ads that find no room in a zone wait
    (`waiting.list_unplaced_units`). A campaign without money for one event becomes exhausted at
    once; a CPM campaign only if no money may come. Raises UnknownCampaign and FlightOver.
    """

    def work(session: ClientSession) -> StoredCampaign:
        before = get(database, campaign_id, session)
        if before["flight"]["end"] <= now:
            raise FlightOver
        if before["status"] == "active":
            return before
        # Even pacing starts anew: the time of the pause releases no money.
        paced = {"balance.paced_at": now} if "balance" in before else {}
        stored = _update(database, session, campaign_id, {"status": "active", **paced})
        # The response shows the status, so the maker needs no note.
        after = exhaustion.follow(database, session, stored, now, tells=False)
        if after["status"] == "active":
            placing.place(database, session, after)
        return after

    return in_transaction(database, work)


def deactivate(database: Database[Document], campaign_id: str) -> StoredCampaign:
    """Pause an active or exhausted campaign, remove its ads from the zones, and return it.

    Any other campaign stays as it is. Raises UnknownCampaign.
    """

    def work(session: ClientSession) -> StoredCampaign:
        before = get(database, campaign_id, session)
        if before["status"] not in balances.SPENDING:
            return before
        after = _update(database, session, campaign_id, {"status": "paused"})
        placing.clear(database, session, campaign_id)
        return after

    return in_transaction(database, work)


def end_flights(runtime: Runtime) -> int:
    """End the campaigns with flights in the past; return the number that this run ended.

    Decisions check the flight themselves, so a late run does no harm. Two runs at once end each
    campaign once. First each campaign has _END_TIMEOUT_SECONDS, in random order, so that a campaign
    in very many zones delays no other campaign for long. Then the campaigns that were too slow try
    again, without this time-out. Each of the two rounds has a part of the remaining time.
    """
    database, now = runtime.database, runtime.now()
    over = {"status": {"$in": balances.SPENDING}, "flight.end": {"$lte": now}}
    found = CAMPAIGNS.of(database).find(over, {"_id": 1}).sort("flight.end", ASCENDING)
    due = [each["_id"] for each in found.limit(runtime.bounds.ads.ended_flights)]
    runtime.random.shuffle(due)
    ended: set[str] = set()
    for seconds, part in ((_END_TIMEOUT_SECONDS, 0.4), (None, 0.75)):
        has_time = deadlines.share(part)
        for campaign_id in [each for each in due if each not in ended]:
            if not has_time():
                break
            with pymongo.timeout(seconds):
                if _end(database, campaign_id, now):
                    ended.add(campaign_id)
    return len(ended)


def _end(database: Database[Document], campaign_id: str, now: datetime) -> bool:
    """End a campaign whose flight is over; return whether this run ended it."""

    def work(session: ClientSession) -> bool:
        before = get(database, campaign_id, session)
        if before["status"] not in balances.SPENDING or before["flight"]["end"] > now:
            return False
        notes = campaigns.add_note(before, "campaign.ended", now)
        _update(database, session, campaign_id, {"status": "ended", "notes": notes})
        placing.clear(database, session, campaign_id)
        return True

    try:
        return in_transaction(database, work)
    except Problem:
        # Another writer holds the same zones, or the change is too large or slow: a later try or
        # the next run ends this campaign.
        log.warning("flight not ended", exc_info=True, extra={"fields": {"campaign": campaign_id}})
        return False


def _check_targets(database: Database[Document], targets: list[StoredTarget]) -> None:
    """Raise InvalidRequest for targets without a zone."""
    unknown = zones.unknown(database, targets)
    if unknown:
        raise InvalidRequest(
            errors=[
                FieldError(f"targets.{position}", "unknown_zone", _no_such_zone(targets[position]))
                for position in unknown
            ]
        )


def _no_such_zone(target: StoredTarget) -> str:
    return f"There is no zone {target['zone_id']} on the site {target['site_id']}"


def _status_after(before: StoredCampaign | None, *, over: bool) -> Status:
    status: Status = before["status"] if before else "draft"
    match status:
        case "active" | "exhausted" if over:
            return "ended"
        case "ended" if not over:
            return "paused"
        case _:
            return status


def _update(
    database: Database[Document], session: ClientSession, campaign_id: str, fields: Document
) -> StoredCampaign:
    stored = CAMPAIGNS.of(database).find_one_and_update(
        {"_id": campaign_id},
        {"$set": fields},
        upsert=True,
        return_document=ReturnDocument.AFTER,
        session=session,
    )
    assert stored is not None  # noqa: S101 - an upsert leaves a document to return
    return stored


def _place_or_clear(
    database: Database[Document],
    session: ClientSession,
    before: StoredCampaign | None,
    after: StoredCampaign,
) -> None:
    """Update the zones after a campaign's change; skip its old targets if its rows are the same."""
    was_active = before is not None and before["status"] == "active"
    if after["status"] == "active":
        same = was_active and before is not None and placing.rows(before) == placing.rows(after)
        placing.place(database, session, after, before["targets"] if before and same else ())
    elif was_active:
        placing.clear(database, session, after["_id"])
