"""Events: impressions, clicks and conversions, each counted and billed once.

The worker takes a batch in one transaction: the events that are new, the money, the reports.
An event's id is made of what happened, so a repeat is no new event; and whatever dies before
the commit has done nothing.
"""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import ClassVar, Literal, TypedDict

from pydantic import TypeAdapter
from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads import budgets, counts, leases, sites
from chalicelib.ads.counts import Counted, Place
from chalicelib.ads.leases import LeaseKey
from chalicelib.database import Collection, Document, in_transaction
from chalicelib.logs import log
from chalicelib.metrics import AD_EVENTS
from chalicelib.queues import Message

KEPT_SECONDS = 90 * 24 * 3_600


class StoredEvent(TypedDict):
    """An event as it is stored, with what became of its price."""

    _id: str
    type: Literal["impression", "click", "conversion"]
    decision: str
    slot: int
    campaign_id: str
    ad_unit_id: str
    site_id: str
    zone_id: str
    price_micros: int
    lease_id: str | None
    ts: datetime
    is_bot: bool
    order: str | None
    value_micros: int
    billed: bool
    revenue_micros: int


EVENTS = Collection(
    "ad.event",
    StoredEvent,
    indexes=(
        IndexModel([("campaign_id", ASCENDING), ("ts", ASCENDING)]),
        IndexModel([("site_id", ASCENDING), ("ts", ASCENDING)]),
        IndexModel([("ts", ASCENDING)], expireAfterSeconds=KEPT_SECONDS),
    ),
    shard_key={"_id": "hashed"},
)
_COUNTED_AS = {"impression": "impressions", "click": "clicks", "conversion": "conversions"}


class AdEvent(Message):
    """Something that happened to an ad of a decision, as its signed token says but for whom.

    `price_micros` is 0 where this kind of event costs nothing. A conversion bears its order,
    where the advertiser told it, and its value.
    """

    queue: ClassVar[str] = "ad-events"
    type: Literal["impression", "click", "conversion"]
    decision: str
    slot: int
    campaign_id: str
    ad_unit_id: str
    site_id: str
    zone_id: str
    price_micros: int
    lease_id: str | None
    ts: datetime
    is_bot: bool = False
    order: str | None = None
    value_micros: int = 0

    @property
    def id(self) -> str:
        """What makes a repeat of it the same event.

        A bot's has one of its own, so that a preview of a page does not stand for its reader.
        """
        if self.order is not None:
            return f"{self.campaign_id.partition(':')[0]}:order:{self.order}:{self.type}"
        return f"{self.decision}:{self.slot}:{self.type}" + (":bot" if self.is_bot else "")

    @property
    def is_priced(self) -> bool:
        """Tell whether someone has to pay for it."""
        return self.price_micros > 0 and not self.is_bot


AD_EVENT: TypeAdapter[AdEvent] = TypeAdapter(AdEvent)


def count(
    database: Database[Document], events: Sequence[AdEvent], now: datetime, rng: random.Random
) -> int:
    """Count and bill the events that are new, in one transaction; return how many there were.

    Doing it again changes nothing. A campaign that could not pay a click leaves its zones.
    """
    shares = sites.shares_bp(database, {event.site_id for event in events})

    def work(session: ClientSession) -> Mapping[str, tuple[AdEvent, bool]]:
        fresh = _new(database, session, events)
        billed = _bill(database, session, fresh, now)
        outcome = {event.id: (event, event.id in billed) for event in fresh}
        if outcome:
            rows = [_stored(event, is_billed, shares) for event, is_billed in outcome.values()]
            database[EVENTS.name].insert_many(rows, session=session)
            # Drawn again in each attempt: the shard that another holds is not met twice.
            shard = rng.randrange(counts.SHARDS)
            counts.add(database, session, map(counted, rows), shard, now)
        return outcome

    outcome = in_transaction(database, work)
    unpaid = [event for event, is_billed in outcome.values() if event.is_priced and not is_billed]
    for campaign_id in sorted({event.campaign_id for event in unpaid if event.type == "click"}):
        budgets.refresh(database, campaign_id, now)
    fields = {"ad_events": len(outcome), "unpaid_ad_events": len(unpaid)}
    log.info("ad events counted", extra={"fields": fields, "metrics": AD_EVENTS})
    return len(outcome)


def counted(row: Document) -> Counted:
    """Return what a stored event adds to the reports."""
    place = Place(row["campaign_id"], row["ad_unit_id"], row["site_id"], row["zone_id"])
    if row["is_bot"]:
        return Counted(place, row["ts"], {"bots": 1})
    is_paid = row["billed"]
    adds = {
        _COUNTED_AS[row["type"]]: 1,
        "unbilled": int(row["price_micros"] > 0 and not is_paid),
        "spend_micros": row["price_micros"] if is_paid else 0,
        "revenue_micros": row["revenue_micros"],
        "value_micros": row["value_micros"],
    }
    return Counted(place, row["ts"], {name: number for name, number in adds.items() if number})


def _new(
    database: Database[Document], session: ClientSession, events: Sequence[AdEvent]
) -> list[AdEvent]:
    by_id = {event.id: event for event in reversed(events)}
    found = database[EVENTS.name].find({"_id": {"$in": list(by_id)}}, {"_id": 1}, session=session)
    known = {row["_id"] for row in found}
    return [event for event_id, event in reversed(by_id.items()) if event_id not in known]


def _bill(
    database: Database[Document],
    session: ClientSession,
    events: Sequence[AdEvent],
    now: datetime,
) -> set[str]:
    """Return the ids of those that were paid: impressions by leases, clicks by campaigns."""
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
    for campaign_id, clicks in sorted(by_campaign.items()):
        paid = budgets.charge_clicks(database, session, campaign_id, _prices(clicks), now)
        billed |= _ids(clicks, paid)
    return billed


def _prices(events: Sequence[AdEvent]) -> list[int]:
    return [event.price_micros for event in events]


def _ids(events: Sequence[AdEvent], paid: Sequence[bool]) -> set[str]:
    return {event.id for event, is_paid in zip(events, paid, strict=True) if is_paid}


def _stored(event: AdEvent, is_billed: bool, shares: Mapping[str, int]) -> Document:  # noqa: FBT001
    row = event.model_dump(exclude={"version"})
    spend = event.price_micros if is_billed else 0
    revenue = spend * shares[event.site_id] // sites.WHOLE_BP
    return {"_id": event.id, **row, "billed": is_billed, "revenue_micros": revenue}
