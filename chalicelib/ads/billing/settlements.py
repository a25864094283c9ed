"""Daily settlement: a day's earnings move from advertisers to sites and the network.

`ad.settlement` holds a day's debt before its payment, so that a run may die, fail to start or
come twice. A debt only grows. A payment's transfer id contains the amount already paid, so a
repeat changes nothing.
"""

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel, ReturnDocument, UpdateOne
from pymongo.database import Database

from chalicelib import deadlines
from chalicelib.ads import accounts
from chalicelib.ads.billing import transfers
from chalicelib.ads.billing.transfers import TRANSFERS, Payment
from chalicelib.ads.errors import InsufficientFunds, TooManyTransfers, TransferInProgress
from chalicelib.ads.reports.counters import BY_CAMPAIGN, DAYS
from chalicelib.ads.reports.progress import PROGRESS, Progress
from chalicelib.ads.reports.roll_ups import OVERLAP
from chalicelib.database import Collection, Document
from chalicelib.errors import IdempotencyKeyReused, Unavailable
from chalicelib.jobs.schedules import Step, run_all, run_steps
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
# Their sums take a second or less, however many units and zones they have.
_SUMMED_AT_ONCE = 200
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

    A day may have more campaigns than a run records, so each batch notes its place. A day that
    fails keeps no other from its record.
    """
    has_time, recorded = deadlines.share(0.8), 0
    progress = _note_days(runtime.database, now)
    days = sorted(progress.get("again", []))

    def record(day: datetime) -> None:
        nonlocal recorded
        for number in _record_day(runtime, progress, day):
            recorded += number
            if not has_time():
                return

    begun = itertools.takewhile(lambda day: day == days[0] or has_time(), days)
    run_all((f"{day:%Y-%m-%d}", partial(record, day)) for day in begun)
    return recorded


def _record_day(runtime: Runtime, progress: Progress, day: datetime) -> Iterator[int]:
    """Record a day batch by batch; yield the numbers of debts. Then the day is done."""
    database, rows, at = runtime.database, PROGRESS.of(runtime.database), progress.get("at")
    after = (at["campaign_id"], at["site_id"]) if at and at["day"] == day else ("", "")
    earnings = _find_earnings(database, day, after)
    while batch := list(itertools.islice(earnings, runtime.bounds.ads.settled_at_once // 2)):
        operations = [_raise_debt(earning) for both in batch for earning in both]
        SETTLEMENTS.of(database).bulk_write(operations, ordered=False)
        _, campaign_id, site_id, *_ = batch[-1][0]
        place = {"at.day": day, "at.campaign_id": campaign_id, "at.site_id": site_id}
        rows.update_one(_same(progress), {"$set": place})
        yield len(operations)
    # A run that found the day anew left another time; this run, or an earlier one, left a mark.
    unchanged = {**_same(progress), "at.changed": {"$ne": True}}
    done: Document = {"$pull": {"again": day}, "$unset": {"at": ""}}
    if not rows.update_one(unchanged, done).matched_count:
        rows.update_one({"_id": progress["_id"], "at.day": day}, {"$unset": {"at": ""}})


def _same(progress: Progress) -> Document:
    return {"_id": progress["_id"], "until": progress["until"]}


def _note_days(database: Database[Document], now: datetime) -> Progress:
    """Note past days that have ended or changed since the last run; return all that are owed.

    A day has no age limit: the dead letters may have held an event for two weeks. A day that
    changes during its record has another one after its end.
    """
    rows = PROGRESS.of(database)
    progress = rows.find_one({"_id": "settled"})
    since = progress["until"] - OVERLAP if progress else _FIRST
    is_new = {"$or": [{"updated_at": {"$gte": since}}, {"period": {"$gte": _day_of(since)}}]}
    days = DAYS.of(database).distinct("period", {"period": {"$lt": _day_of(now)}, **is_new})
    marked = {"$mergeObjects": ["$at", {"changed": True}]}
    noted = {
        "until": {"$max": ["$until", now]},
        "again": {"$setUnion": [{"$ifNull": ["$again", []]}, days]},
        "at": {"$cond": [{"$in": ["$at.day", days]}, marked, "$at"]},
    }
    # Without a settlement there is no progress to keep.
    found = rows.find_one_and_update(
        {"_id": "settled"},
        [{"$set": noted}],
        upsert=bool(days),
        return_document=ReturnDocument.AFTER,
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
    """Yield the earnings of a day, of a site and of the network, after a campaign and a site.

    Some campaigns at a time: the sums of a whole day may take longer than a run.
    """
    campaign, site = after
    wanted: Document = {"$gte": campaign}
    key = {"campaign": "$campaign_id", "site": "$site_id"}
    sums = {name: {"$sum": f"${name}"} for name in ("spend_micros", "revenue_micros")}
    left = [{"campaign_id": {"$gt": campaign}}, {"campaign_id": campaign, "site_id": {"$gt": site}}]
    while some := _next_campaigns(database, day, wanted):
        span = {"$gte": some[0], "$lte": some[-1]}
        pipeline: list[Document] = [
            {"$match": {"period": day, "campaign_id": span, "$or": left}},
            {"$group": {"_id": key, **sums}},
            {"$match": {"spend_micros": {"$gt": 0}}},
            {"$sort": {"_id.campaign": 1, "_id.site": 1}},
        ]
        for row in DAYS.read_as(_DaySum, database).aggregate(pipeline, hint=dict(BY_CAMPAIGN)):
            campaign_id, site_id = row["_id"]["campaign"], row["_id"]["site"]
            revenue, spend = row["revenue_micros"], row["spend_micros"]
            of_site = _Earning(day, campaign_id, site_id, accounts.of_site(site_id), revenue)
            yield of_site, of_site._replace(payee=accounts.NETWORK, micros=spend - revenue)
        wanted = {"$gt": some[-1]}


def _next_campaigns(database: Database[Document], day: datetime, wanted: Document) -> list[str]:
    """Return the first campaigns of a day, by their ids, from the index alone."""
    of_day = {"period": day, "campaign_id": wanted}
    rows = DAYS.of(database).find(of_day, {"campaign_id": 1, "_id": 0}).hint(BY_CAMPAIGN)
    ids = (row["campaign_id"] for row in rows.sort("campaign_id", ASCENDING))
    return [each for each, _ in itertools.islice(itertools.groupby(ids), _SUMMED_AT_ONCE)]


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
