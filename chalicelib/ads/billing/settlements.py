"""Daily settlement: a day's earnings move from advertisers to sites and the network.

`ad.settlement` holds a day's debt before its payment, so that a run may die, fail to start or
come twice. A debt only grows. A payment's transfer id contains the amount already paid, so a
repeat changes nothing.
"""

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel, ReturnDocument, UpdateOne
from pymongo.database import Database

from chalicelib import deadlines
from chalicelib.ads import accounts
from chalicelib.ads.billing import transfers
from chalicelib.ads.billing.transfers import TRANSFERS, Payment
from chalicelib.ads.errors import InsufficientFunds, TooManyTransfers, TransferInProgress
from chalicelib.ads.reports.counters import DAYS
from chalicelib.ads.reports.progress import PROGRESS, PlaceInDay, Progress
from chalicelib.ads.reports.roll_ups import OVERLAP
from chalicelib.database import Collection, Document
from chalicelib.errors import IdempotencyKeyReused, Unavailable
from chalicelib.jobs.schedules import Step, run_steps
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime


class _Place(TypedDict):
    campaign: str
    site: str


class _DaySum(TypedDict):
    """The earnings of a campaign on a site in a day."""

    _id: _Place
    spend_micros: int
    revenue_micros: int


class _Earning(NamedTuple):
    """The amount that a day of a campaign on a site owes to an account."""

    day: datetime
    campaign_id: str
    site_id: str
    payee: str
    micros: int


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
    """Pay the debts of past days as far as funds go, then record the earnings since.

    The payments come first and have half of the run: however many there are, and whatever fails,
    neither keeps the other from its work. The next run pays the recorded debts.
    """
    now = runtime.now()
    steps: dict[str, Step] = {
        "paid": lambda _: _pay_debts(runtime, now),
        "owed": lambda _: _record_debts(runtime, now),
    }
    return run_steps(runtime, steps)


def _pay_debts(runtime: Runtime, now: datetime) -> int:
    """Pay open settlements while there is time; return the number of payments."""
    database, has_time, paid = runtime.database, deadlines.share(0.5), 0
    # A settlement that has failed in this run waits for the next one.
    due: Document = {"is_open": True, "tried_at": {"$not": {"$gte": now}}}
    turns = SETTLEMENTS.of(database).find(due).sort(_TURNS)
    turns.limit(runtime.bounds.ads.settled_at_once)
    while found := list(turns.clone()):
        for settlement in found:
            if not has_time():
                return paid
            paid += _pay(database, settlement, now)
    return paid


def _record_debts(runtime: Runtime, now: datetime) -> int:
    """Raise each debt to the sum of the reports while there is time; return the number of debts.

    A day may have more campaigns than a run records, so each batch notes its place.
    """
    database, has_time, recorded = runtime.database, deadlines.share(0.8), 0
    progress = _note_days(database, now)
    at = progress.get("at")
    for day in sorted(progress.get("again", [])):
        after = (at["campaign_id"], at["site_id"]) if at and at["day"] == day else ("", "")
        earnings = _find_earnings(database, day, after)
        while batch := list(itertools.islice(earnings, runtime.bounds.ads.settled_at_once // 2)):
            operations = [_raise_debt(earning) for both in batch for earning in both]
            SETTLEMENTS.of(database).bulk_write(operations, ordered=False)
            recorded += len(operations)
            _, campaign_id, site_id, *_ = batch[-1][0]
            place: PlaceInDay = {"day": day, "campaign_id": campaign_id, "site_id": site_id}
            PROGRESS.of(database).update_one(_same(progress), {"$set": {"at": place}})
            if not has_time():
                return recorded
        # Another run that has found the day anew has another time.
        done = {"$pull": {"again": day}, "$unset": {"at": ""}}
        PROGRESS.of(database).update_one(_same(progress), done)
    return recorded


def _same(progress: Progress) -> Document:
    return {"_id": progress["_id"], "until": progress["until"]}


def _note_days(database: Database[Document], now: datetime) -> Progress:
    """Note past days that have ended or changed since the last run; return all that are owed.

    A day has no age limit: the dead letters may have held an event for two weeks.
    """
    rows = PROGRESS.of(database)
    progress = rows.find_one({"_id": "settled"})
    since = progress["until"] - OVERLAP if progress else _FIRST
    is_new = {"$or": [{"updated_at": {"$gte": since}}, {"period": {"$gte": _day_of(since)}}]}
    days = DAYS.of(database).distinct("period", {"period": {"$lt": _day_of(now)}, **is_new})
    noted: Document = {"$max": {"until": now}, "$addToSet": {"again": {"$each": days}}}
    if progress and "at" in progress and progress["at"]["day"] in days:
        noted["$unset"] = {"at": ""}
    # Without a settlement there is no progress to keep.
    found = rows.find_one_and_update(
        {"_id": "settled"}, noted, upsert=bool(days), return_document=ReturnDocument.AFTER
    )
    return found or Progress(_id="settled", until=now)


def _raise_debt(earning: _Earning) -> UpdateOne:
    """Return the update that raises the debt of an earning to its amount."""
    day, campaign_id, site_id, payee, micros = earning
    raised = {
        "payer": accounts.of_campaign(campaign_id),
        "payee": payee,
        "owed_micros": {"$max": ["$owed_micros", micros]},
        "paid_micros": {"$ifNull": ["$paid_micros", 0]},
    }
    is_open = {"$gt": ["$owed_micros", "$paid_micros"]}
    return UpdateOne(
        {"_id": f"{day:%Y-%m-%d}/{campaign_id}/{site_id}/{payee}"},
        [{"$set": raised}, {"$set": {"is_open": is_open}}],
        upsert=True,
    )


def _find_earnings(
    database: Database[Document], day: datetime, after: tuple[str, str]
) -> Iterator[tuple[_Earning, _Earning]]:
    """Yield the earnings of a day, of a site and of the network, after a campaign and a site."""
    campaign, site = after
    key = {"campaign": "$campaign_id", "site": "$site_id"}
    sums = {name: {"$sum": f"${name}"} for name in ("spend_micros", "revenue_micros")}
    left = [{"campaign_id": {"$gt": campaign}}, {"campaign_id": campaign, "site_id": {"$gt": site}}]
    pipeline: list[Document] = [
        {"$match": {"period": day, "$or": left}},
        {"$group": {"_id": key, **sums}},
        {"$match": {"spend_micros": {"$gt": 0}}},
        {"$sort": {"_id.campaign": 1, "_id.site": 1}},
    ]
    for row in DAYS.read_as(_DaySum, database).aggregate(pipeline):
        campaign_id, site_id = row["_id"]["campaign"], row["_id"]["site"]
        revenue, spend = row["revenue_micros"], row["spend_micros"]
        of_site = _Earning(day, campaign_id, site_id, accounts.of_site(site_id), revenue)
        yield of_site, of_site._replace(payee=accounts.NETWORK, micros=spend - revenue)


def _day_of(ts: datetime) -> datetime:
    return ts.replace(hour=0, minute=0, second=0, microsecond=0)


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
