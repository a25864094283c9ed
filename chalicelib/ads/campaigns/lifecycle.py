"""Campaigns: the system of record, and what a change of one does to the zones.

A campaign and its zones change in one transaction, whose first write is the campaign: two
changes of one campaign conflict there, two campaigns in one zone conflict at the zone, and
the later one starts again from what the first has left.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType

from pymongo import ASCENDING, ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads.budgets import exhaustion
from chalicelib.ads.campaigns import asset_pictures
from chalicelib.ads.campaigns.asset_pictures import ShownAsset
from chalicelib.ads.campaigns.forms import Campaign
from chalicelib.ads.errors import CampaignDeleted, FlightOver
from chalicelib.ads.inventory import campaigns, creatives, placing, zones
from chalicelib.ads.inventory.campaigns import CAMPAIGNS, Status, StoredCampaign, Target, get
from chalicelib.database import Document, in_transaction
from chalicelib.errors import FieldError, InvalidRequest, Problem
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime


def put(
    database: Database[Document],
    campaign_id: str,
    campaign: Campaign,
    now: datetime,
    assets: Mapping[str, ShownAsset] = MappingProxyType({}),
) -> tuple[StoredCampaign, bool]:
    """Create a draft or change a campaign; return it, and whether it is new.

    The zones of an active campaign follow. An active one whose new flight is over has ended,
    and an ended one with a new flight waits, paused, to be activated. A raised budget reactivates
    an exhausted one. Raises InvalidRequest for targets that name no zone, and BudgetCommitted
    for a budget below what is spent or leased, and CampaignDeleted. `assets` are those that its
    pictures are, by the URLs that were sent.
    """
    definition = campaign.model_dump()
    asset_pictures.put_into(definition["ad_units"], assets)
    _check_targets(database, definition["targets"])

    def work(session: ClientSession) -> tuple[StoredCampaign, bool]:
        before = CAMPAIGNS.of(database).find_one({"_id": campaign_id}, session=session)
        if before is not None and before["status"] in campaigns.GONE:
            raise CampaignDeleted
        status = _status_after(before, over=definition["flight"]["end"] <= now)
        stored = _update(database, session, campaign_id, {**definition, "status": status})
        after = exhaustion.follow(database, session, stored, now)
        creatives.follow(database, session, before, after)
        _place_or_clear(database, session, before, after)
        return after, before is None

    return in_transaction(database, work)


def activate(database: Database[Document], campaign_id: str, now: datetime) -> StoredCampaign:
    """Put the campaign's ads into its zones and return it; an active one stays as it is.

    Before its flight it may be activated, and is served from the start. One whose budget does
    not cover a single event is exhausted at once. Rows without a place in a zone wait for one
    (`waiting.unplaced`). Raises UnknownCampaign and FlightOver.
    """

    def work(session: ClientSession) -> StoredCampaign:
        before = get(database, campaign_id, session)
        if before["flight"]["end"] <= now:
            raise FlightOver
        if before["status"] == "active":
            return before
        stored = _update(database, session, campaign_id, {"status": "active"})
        after = exhaustion.follow(database, session, stored, now)
        if after["status"] == "active":
            placing.place(database, session, after)
        return after

    return in_transaction(database, work)


def deactivate(database: Database[Document], campaign_id: str) -> StoredCampaign:
    """Pause an active or exhausted campaign, take its ads out of the zones, and return it.

    Any other stays as it is. Raises UnknownCampaign.
    """

    def work(session: ClientSession) -> StoredCampaign:
        before = get(database, campaign_id, session)
        if before["status"] not in exhaustion.SPENDING:
            return before
        after = _update(database, session, campaign_id, {"status": "paused"})
        placing.clear(database, session, campaign_id)
        return after

    return in_transaction(database, work)


def end_flights(runtime: Runtime) -> int:
    """End the campaigns whose flights are over; return how many were ended here.

    Their ads have not been served since: serving looks at the flight itself. So a run may be
    missed, and two runs at once end each campaign once.
    """
    database, now = runtime.database, runtime.now()
    over = {"status": {"$in": exhaustion.SPENDING}, "flight.end": {"$lte": now}}
    found = CAMPAIGNS.of(database).find(over, {"_id": 1}).sort("flight.end", ASCENDING)
    due = found.limit(runtime.bounds.ads.ended_flights)
    return sum(_end(database, each["_id"], now) for each in due)


def _end(database: Database[Document], campaign_id: str, now: datetime) -> bool:
    """End a campaign unless its flight was changed, or another run was quicker."""

    def work(session: ClientSession) -> bool:
        before = get(database, campaign_id, session)
        if before["status"] not in exhaustion.SPENDING or before["flight"]["end"] > now:
            return False
        _update(database, session, campaign_id, {"status": "ended"})
        placing.clear(database, session, campaign_id)
        return True

    try:
        return in_transaction(database, work)
    except Problem:
        # Others are changing the same zones, or it is too much at once; the remaining flights
        # and the next run go on.
        log.warning("flight not ended", exc_info=True, extra={"fields": {"campaign": campaign_id}})
        return False


def _check_targets(database: Database[Document], targets: list[Target]) -> None:
    """Raise InvalidRequest for those that name no zone."""
    unknown = zones.unknown(database, targets)
    if unknown:
        raise InvalidRequest(
            errors=[
                FieldError(f"targets.{position}", "unknown_zone", _no_such_zone(targets[position]))
                for position in unknown
            ]
        )


def _no_such_zone(target: Target) -> str:
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
    """Update the zones to a changed campaign; zones with the same ads are left alone."""
    was_active = before is not None and before["status"] == "active"
    if after["status"] == "active":
        same = was_active and before is not None and placing.rows(before) == placing.rows(after)
        placing.place(database, session, after, before["targets"] if before and same else ())
    elif was_active:
        placing.clear(database, session, after["_id"])
