"""Daily settlement: a day's earnings move from advertisers to sites and the network.

A run stores each debt in `ad.settlement` before it pays the debt, so a run may die, not start or
run twice. A debt only grows. A payment's transfer id contains the amount paid before, so paying is
idempotent.
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
from chalicelib.instants import start_of_day
from chalicelib.jobs.schedules import Step, run_all, run_steps
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime


class _Place(TypedDict):
    campaign: str
    site: str


class _DaySum(TypedDict):
    """A campaign's spending on a site in a day, and the site's share of this spending."""

    _id: _Place
    spend_micros: int
    revenue_micros: int


class _Earning(NamedTuple):
    """The debt of a campaign to one payee, for a day on a site."""

    day: datetime
    campaign_id: str
    site_id: str
    payee: str
    micros: int


class Settlement(TypedDict):
    """A campaign's debt to one payee for a day on a site, and its paid part.

    `_id`: day/campaign/site/payee. `tried_at`: the start of the last run that failed to pay it.
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
# A debt waits for the next run: the payer lacks funds, an account has too many transfers under
# way, the transfer took too long, or another run pays the debt, perhaps as it was before it grew.
_WAITS = (
    InsufficientFunds,
    IdempotencyKeyReused,
    TooManyTransfers,
    TransferInProgress,
    Unavailable,
)
# Campaigns of one aggregation, which takes a second or less for any number of ad units and zones.
_SUMMED_AT_ONCE = 200
_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
# Failed settlements come last. Otherwise an advertiser without funds would block all others.
_TURNS = [("tried_at", ASCENDING), ("_id", ASCENDING)]


def settle(runtime: Runtime) -> dict[str, int]:
    """Pay the recorded debts as far as funds go, then record new earnings as debts.

    Returns the numbers of payments (`paid`) and of debts (`owed`). Payments have at most half of
    the time, and a failure of one step does not stop the other. The next run pays the new debts.
    """
    now = runtime.now()
    steps: dict[str, Step] = {
        "paid": lambda _: _pay_debts(runtime, now),
        "owed": lambda _: _record_debts(runtime, now),
    }
    return run_steps(runtime, steps)


def _pay_debts(runtime: Runtime, now: datetime) -> int:
    """Pay open settlements for half of the remaining time; return the number of payments."""
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

    A day may have more campaigns than a run can record, so each batch stores the last campaign and
    site that it recorded. A day that fails does not stop the other days.
    """
    has_time, recorded = deadlines.share(0.8), 0
    progress = _note_days(runtime.database, now)
    # The begun day first: the record of another day would replace its place and its change.
    begun_day = progress["at"]["day"] if "at" in progress else None
    days = sorted(progress.get("again", []), key=lambda day: (day != begun_day, day))

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
    """Record a day's debts batch by batch; yield each batch's number of debts.

    After the last batch, remove the day from `again`, unless its reports changed meanwhile.
    """
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
    # If another run has moved `until`, or has found the day changed after the first batch and set
    # `at.changed`, the day stays in `again`, and a later run records it anew.
    unchanged = {**_same(progress), "at.changed": {"$ne": True}}
    done: Document = {"$pull": {"again": day}, "$unset": {"at": ""}}
    if not rows.update_one(unchanged, done).matched_count:
        rows.update_one({"_id": progress["_id"], "at.day": day}, {"$unset": {"at": ""}})


def _same(progress: Progress) -> Document:
    return {"_id": progress["_id"], "until": progress["until"]}


def _note_days(database: Database[Document], now: datetime) -> Progress:
    """Add the past days that ended or changed since the last run to `again`; return the progress.

    A day has no age limit: the dead letters may have held an event for two weeks. A day that
    changes while a run records it is recorded once more after that.
    """
    rows = PROGRESS.of(database)
    progress = rows.find_one({"_id": "settled"})
    since = progress["until"] - OVERLAP if progress else _FIRST
    is_new = {"$or": [{"updated_at": {"$gte": since}}, {"period": {"$gte": start_of_day(since)}}]}
    days = DAYS.of(database).distinct("period", {"period": {"$lt": start_of_day(now)}, **is_new})
    marked = {"$mergeObjects": ["$at", {"changed": True}]}
    noted = {
        "until": {"$max": ["$until", now]},
        "again": {"$setUnion": [{"$ifNull": ["$again", []]}, days]},
        "at": {"$cond": [{"$in": ["$at.day", days]}, marked, "$at"]},
    }
    # Before the first day to settle there is no progress to store.
    found = rows.find_one_and_update(
        {"_id": "settled"},
        [{"$set": noted}],
        upsert=bool(days),
        return_document=ReturnDocument.AFTER,
    )
    return found or Progress(_id="settled", until=now)


def _raise_debt(earning: _Earning) -> UpdateOne:
    """Return the upsert that raises a debt to the earning's amount; it never lowers the debt."""
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
    """Yield a day's earnings of site and network for each campaign and site with spending.

    In the order of (campaign, site), from the first pair behind `after`. Each aggregation sums a
    batch of campaigns, because the sums of a whole day may take longer than a run.
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
    """Return the first _SUMMED_AT_ONCE campaign ids of a day that match `wanted`, in order.

    The index alone answers.
    """
    of_day = {"period": day, "campaign_id": wanted}
    rows = DAYS.of(database).find(of_day, {"campaign_id": 1, "_id": 0}).hint(BY_CAMPAIGN)
    ids = (row["campaign_id"] for row in rows.sort("campaign_id", ASCENDING))
    return [each for each, _ in itertools.islice(itertools.groupby(ids), _SUMMED_AT_ONCE)]


def _pay(database: Database[Document], settlement: Settlement, now: datetime) -> bool:
    """Pay the rest of a settlement; return False if the payment must wait for the next run."""
    payer, payee, paid = settlement["payer"], settlement["payee"], settlement["paid_micros"]
    transfer_id = f"{accounts.SETTLEMENT}{settlement['_id']}/{paid}"
    started = TRANSFERS.of(database).find_one({"_id": transfer_id})
    # Finish an earlier run's payment with its own amount; the next payment covers the rest.
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
