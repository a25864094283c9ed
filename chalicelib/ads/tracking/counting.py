"""Impressions, clicks and conversions: each event counts and costs once.

The worker writes a batch in one transaction: the new events, the money, the reports. A repeat of
an event has the same id, so it is no new event. A worker that dies before the commit has changed
nothing.
"""

import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import BulkWriteError

from chalicelib.ads.budgets import clicks, exhaustion, leases
from chalicelib.ads.budgets.leases import LeaseKey
from chalicelib.ads.reports import counters
from chalicelib.ads.reports.counters import AdPlace, CountedEvent, Uncountable
from chalicelib.ads.tracking.events import EVENTS, AdEvent, StoredAdEvent
from chalicelib.database import DUPLICATE_KEY, Document, in_transaction
from chalicelib.messaging import Poisoned
from chalicelib.observability.logs import log
from chalicelib.observability.metrics import AD_EVENTS
from chalicelib.runtime import Runtime
from chalicelib.sites import settings

_COUNTED_AS = {"impression": "impressions", "click": "clicks", "conversion": "conversions"}


def count_and_bill(runtime: Runtime, events: Sequence[AdEvent]) -> int:
    """Count and bill the new events, in one transaction; return their number.

    A repeat changes nothing. A campaign that could not pay a click leaves its zones. Raises
    Poisoned with the events that no document can hold, and counts none then.
    """
    database, now = runtime.database, runtime.now()
    shares = settings.shares_bp(database, {event.site_id for event in events})

    def work(session: ClientSession) -> Mapping[str, tuple[AdEvent, bool]]:
        fresh = _new(database, session, events)
        billed = _bill(database, session, fresh, now)
        outcome = {event.id: (event, event.id in billed) for event in fresh}
        if outcome:
            rows = [_to_row(event, is_billed, shares) for event, is_billed in outcome.values()]
            _insert(database, session, rows, events)
            # Each attempt draws anew: the former shard may still have a lock.
            shard = runtime.random.randrange(runtime.bounds.ads.report_shards)
            counters.add(database, session, map(to_counts, rows), shard, now)
        return outcome

    try:
        outcome = in_transaction(database, work)
    except Uncountable as refused:
        raise Poisoned(
            [each for each in events if refused.holds(_place(each), each.ts)]
        ) from refused
    unpaid = [event for event, is_billed in outcome.values() if event.is_priced and not is_billed]
    for campaign_id in sorted({event.campaign_id for event in unpaid if event.type == "click"}):
        exhaustion.refresh(database, campaign_id, now)
    fields = {"ad_events": len(outcome), "unpaid_ad_events": len(unpaid)}
    log.info("ad events counted", extra={"fields": fields, "metrics": AD_EVENTS})
    return len(outcome)


def _insert(
    database: Database[Document],
    session: ClientSession,
    rows: Sequence[StoredAdEvent],
    events: Sequence[AdEvent],
) -> None:
    try:
        EVENTS.of(database).insert_many(rows, session=session)
    except BulkWriteError as error:
        (refused,) = error.details["writeErrors"]
        if refused["code"] == DUPLICATE_KEY:
            raise
        event_id = rows[refused["index"]]["_id"]
        raise Poisoned([each for each in events if each.id == event_id]) from error


def _place(event: AdEvent) -> AdPlace:
    return AdPlace(event.campaign_id, event.ad_unit_id, event.site_id, event.zone_id)


def to_counts(row: StoredAdEvent) -> CountedEvent:
    """Return a stored event's addition to the reports."""
    place = AdPlace(row["campaign_id"], row["ad_unit_id"], row["site_id"], row["zone_id"])
    if row["is_bot"]:
        return CountedEvent(place, row["ts"], {"bots": 1})
    is_paid = row["billed"]
    adds = {
        _COUNTED_AS[row["type"]]: 1,
        "unbilled": int(row["price_micros"] > 0 and not is_paid),
        "spend_micros": row["price_micros"] if is_paid else 0,
        "revenue_micros": row["revenue_micros"],
        "value_micros": row["value_micros"],
    }
    return CountedEvent(place, row["ts"], {name: number for name, number in adds.items() if number})


def _new(
    database: Database[Document], session: ClientSession, events: Sequence[AdEvent]
) -> list[AdEvent]:
    by_id = {event.id: event for event in reversed(events)}
    found = EVENTS.of(database).find({"_id": {"$in": list(by_id)}}, {"_id": 1}, session=session)
    known = {row["_id"] for row in found}
    return [event for event_id, event in reversed(by_id.items()) if event_id not in known]


def _bill(
    database: Database[Document],
    session: ClientSession,
    events: Sequence[AdEvent],
    now: datetime,
) -> set[str]:
    """Charge leases for impressions and campaigns for clicks; return the ids of the paid events."""
    by_lease: dict[LeaseKey, list[AdEvent]] = defaultdict(list)
    by_campaign: dict[str, list[AdEvent]] = defaultdict(list)
    for event in events:
        if event.is_priced and event.type == "click":
            by_campaign[event.campaign_id].append(event)
        elif event.is_priced and event.lease_id is not None:
            by_lease[LeaseKey(event.campaign_id, event.lease_id)].append(event)
    billed: set[str] = set()
    for key, impressions in sorted(by_lease.items()):
        paid = leases.settle(database, session, key, _prices(impressions), now)
        billed |= _ids(impressions, paid)
    for campaign_id, clicked in sorted(by_campaign.items()):
        paid = clicks.charge(database, session, campaign_id, _prices(clicked), now)
        billed |= _ids(clicked, paid)
    return billed


def _prices(events: Sequence[AdEvent]) -> list[int]:
    return [event.price_micros for event in events]


def _ids(events: Sequence[AdEvent], paid: Sequence[bool]) -> set[str]:
    return {event.id for event, is_paid in zip(events, paid, strict=True) if is_paid}


def _revenue_micros(event: AdEvent, spend_micros: int, share_bp: int) -> int:
    """Return the site's share of an event's price, in whole micros.

    The event's id decides between the two nearest amounts, so that the shares of many small prices
    add up. Rounded down, 1,000 prices of one micro would bring the site nothing.
    """
    rounding = zlib.crc32(event.id.encode()) % settings.WHOLE_BP
    return (spend_micros * share_bp + rounding) // settings.WHOLE_BP


def _to_row(event: AdEvent, is_billed: bool, shares: Mapping[str, int]) -> StoredAdEvent:  # noqa: FBT001
    spend = event.price_micros if is_billed else 0
    return {
        "_id": event.id,
        "type": event.type,
        "decision": event.decision,
        "slot": event.slot,
        "campaign_id": event.campaign_id,
        "ad_unit_id": event.ad_unit_id,
        "site_id": event.site_id,
        "zone_id": event.zone_id,
        "price_micros": event.price_micros,
        "lease_id": event.lease_id,
        "ts": event.ts,
        "is_bot": event.is_bot,
        "order": event.order,
        "value_micros": event.value_micros,
        "billed": is_billed,
        "revenue_micros": _revenue_micros(event, spend, shares[event.site_id]),
    }
