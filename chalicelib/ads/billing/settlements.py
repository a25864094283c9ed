"""Daily settlement: a day's earnings move from advertisers to sites and the network.

`ad.settlement` holds a day's debt before its payment, so that a run may die, fail to start or
come twice. A debt only grows. A payment's transfer id contains the amount already paid, so a
repeat changes nothing.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel, UpdateOne
from pymongo.database import Database

from chalicelib.ads import accounts
from chalicelib.ads.billing import transfers
from chalicelib.ads.billing.transfers import TRANSFERS, Payment
from chalicelib.ads.errors import InsufficientFunds, TooManyTransfers, TransferInProgress
from chalicelib.ads.reports.counters import DAYS
from chalicelib.ads.reports.progress import PROGRESS
from chalicelib.ads.reports.roll_ups import OVERLAP
from chalicelib.database import Collection, Document
from chalicelib.errors import IdempotencyKeyReused, Unavailable
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime


class _Day(TypedDict):
    day: datetime
    campaign: str
    site: str


class _DaySum(TypedDict):
    """The earnings of a campaign on a site in a day."""

    _id: _Day
    spend_micros: int
    revenue_micros: int


class Settlement(TypedDict):
    """The debt for a day of a campaign on a site, and its paid part.

    `tried_at`: the last payment that failed.
    """

    _id: str
    payer: str
    payee: str
    owed_micros: int
    paid_micros: int
    is_open: bool
    tried_at: NotRequired[datetime]


SETTLEMENTS = Collection(
    "ad.settlement",
    Settlement,
    indexes=(IndexModel([("is_open", ASCENDING), ("tried_at", ASCENDING), ("_id", ASCENDING)]),),
)
# No funds, or another run at work, perhaps with an earlier sum: the next run pays.
_WAITS = (
    InsufficientFunds,
    IdempotencyKeyReused,
    TooManyTransfers,
    TransferInProgress,
    Unavailable,
)
_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
# A settlement that failed goes behind the others. Otherwise the settlements of an advertiser
# without funds would block all others.
_TURNS = [("tried_at", ASCENDING), ("_id", ASCENDING)]


def settle(runtime: Runtime) -> dict[str, int]:
    """Record the earnings of past days, and pay as far as funds go."""
    database, now, limit = runtime.database, runtime.now(), runtime.bounds.ads.paid_settlements
    owed = _record_debts(database, now)
    found = SETTLEMENTS.of(database).find({"is_open": True}).sort(_TURNS)
    paid = sum(_pay(database, settlement, now) for settlement in list(found.limit(limit)))
    return {"owed": owed, "paid": paid}


def _record_debts(database: Database[Document], now: datetime) -> int:
    """Raise each debt to the sum of the reports; return the number of debts."""
    operations = [
        UpdateOne(
            {"_id": f"{day:%Y-%m-%d}/{campaign_id}/{site_id}/{payee}"},
            [
                {
                    "$set": {
                        "payer": accounts.of_campaign(campaign_id),
                        "payee": payee,
                        "owed_micros": {"$max": ["$owed_micros", amount]},
                        "paid_micros": {"$ifNull": ["$paid_micros", 0]},
                    }
                },
                {"$set": {"is_open": {"$gt": ["$owed_micros", "$paid_micros"]}}},
            ],
            upsert=True,
        )
        for day, campaign_id, site_id, payee, amount in _find_earnings(database, now)
    ]
    if operations:
        SETTLEMENTS.of(database).bulk_write(operations, ordered=False)
        until = {"$max": {"until": _today(now)}}
        PROGRESS.of(database).update_one({"_id": "settled"}, until, upsert=True)
    return len(operations)


def _find_earnings(
    database: Database[Document], now: datetime
) -> Iterator[tuple[datetime, str, str, str, int]]:
    """Yield (day, campaign, site, payee, amount) of past days that have changed.

    A day has no age limit: the dead letters may have held an event for two weeks.
    """
    progress = PROGRESS.of(database).find_one({"_id": "settled"})
    since = progress["until"] - OVERLAP if progress else _FIRST
    is_new = {"$or": [{"updated_at": {"$gte": since}}, {"period": {"$gte": since}}]}
    days = DAYS.of(database).distinct("period", {"period": {"$lt": _today(now)}, **is_new})
    key = {"day": "$period", "campaign": "$campaign_id", "site": "$site_id"}
    sums = {name: {"$sum": f"${name}"} for name in ("spend_micros", "revenue_micros")}
    pipeline: list[Document] = [
        {"$match": {"period": {"$in": days}}},
        {"$group": {"_id": key, **sums}},
        {"$match": {"spend_micros": {"$gt": 0}}},
    ]
    for row in DAYS.read_as(_DaySum, database).aggregate(pipeline):
        day, campaign_id, site_id = row["_id"]["day"], row["_id"]["campaign"], row["_id"]["site"]
        revenue, spend = row["revenue_micros"], row["spend_micros"]
        yield day, campaign_id, site_id, accounts.of_site(site_id), revenue
        yield day, campaign_id, site_id, accounts.NETWORK, spend - revenue


def _today(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def _pay(database: Database[Document], settlement: Settlement, now: datetime) -> bool:
    """Pay the rest of a settlement; return whether it succeeded. Without funds it stays open."""
    payer, payee, paid = settlement["payer"], settlement["payee"], settlement["paid_micros"]
    transfer_id = f"{accounts.SETTLEMENT}{settlement['_id']}/{paid}"
    started = TRANSFERS.of(database).find_one({"_id": transfer_id})
    # A payment that an earlier run began ends with its amount; the rest comes next.
    amount = started["amount_micros"] if started else settlement["owed_micros"] - paid
    for account_id in (payer, payee):
        accounts.open_account(database, account_id, now)
    try:
        transfers.transfer(database, transfer_id, Payment(payer, payee, amount), now)
    except _WAITS as problem:
        fields = {"settlement": settlement["_id"], "reason": problem.code}
        log.warning("settlement waits", extra={"fields": fields})
        tried = {"$set": {"tried_at": now}}
        SETTLEMENTS.of(database).update_one({"_id": settlement["_id"]}, tried)
        return False
    is_open = {"$gt": ["$owed_micros", "$paid_micros"]}
    SETTLEMENTS.of(database).update_one(
        {"_id": settlement["_id"], "paid_micros": paid},
        [{"$set": {"paid_micros": paid + amount}}, {"$set": {"is_open": is_open}}],
    )
    return True
