"""Funds: the part of an advertiser's balance and credit line that its campaigns may commit.

    committed = the released money of its campaigns - the paid settlements
    committed <= balance + credit, at every release

An account without a credit line has no bound and no commitment (docs/decisions/0085). One
transaction releases and commits. It writes the account of the advertiser, so concurrent releases of
the advertiser's campaigns conflict and run one after the other.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import TypedDict

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads import accounts
from chalicelib.ads.accounts import ACCOUNTS, SETTLEMENT, Account
from chalicelib.ads.billing.transfers import TRANSFERS, Transfer
from chalicelib.ads.budgets import balances, ledger
from chalicelib.ads.budgets.ledger import Movement
from chalicelib.ads.ids import advertiser_of
from chalicelib.ads.inventory.campaigns import CAMPAIGNS, StoredCampaign
from chalicelib.database import Collection, Document, in_transaction, prefix_range
from chalicelib.errors import Problem
from chalicelib.observability.logs import log


class _Total(TypedDict):
    micros: int


_SPENDING = {"status": {"$in": ["active", "exhausted"]}}
_AT_REST = {"status": {"$in": ["draft", "paused", "ended"]}}
# Campaigns at rest that one run empties.
MAX_TAKEN_BACK = 1_000


def set_credit(
    database: Database[Document], account_id: str, credit_micros: int | None, now: datetime
) -> Account:
    """Set or remove the credit line of an advertiser's account; return the account, opened if new.

    With a line, even of 0, funds limit its campaigns. A line below the commitment stops further
    releases.
    """
    accounts.open_account(database, account_id, now)
    _set_line(database, {"_id": account_id}, account_id, credit_micros)
    return accounts.get(database, account_id)


def bound_to_funds(database: Database[Document], advertisers: Iterable[str], now: datetime) -> int:
    """Set a credit line of 0 for each advertiser without a line; return the number set.

    Opens missing accounts.
    """
    wanted = {accounts.of_advertiser(each) for each in advertisers}
    has_line = {"_id": {"$in": sorted(wanted)}, "credit_micros": {"$exists": True}}
    found = ACCOUNTS.of(database).find(has_line, {"_id": 1})
    bounded = 0
    for account_id in sorted(wanted - {each["_id"] for each in found}):
        accounts.open_account(database, account_id, now)
        # An admin may set a line meanwhile: the filter leaves that line alone.
        without = {"_id": account_id, "credit_micros": {"$exists": False}}
        bounded += _set_line(database, without, account_id, 0)
    return bounded


def _set_line(
    database: Database[Document], this: Document, account_id: str, credit_micros: int | None
) -> bool:
    """Set or remove an account's line if `this` matches the account; return whether it matched."""

    def work(session: ClientSession) -> bool:
        change: Document = {"$unset": {"credit_micros": "", "committed_micros": ""}}
        if credit_micros is not None:
            committed = _count(database, session, account_id)
            change = {"$set": {"credit_micros": credit_micros, "committed_micros": committed}}
        changed = ACCOUNTS.of(database).update_one(this, change, session=session)
        return changed.matched_count == 1

    return in_transaction(database, work)


def bound_spending(database: Database[Document], now: datetime) -> int:
    """Run `bound_to_funds` for all campaigns that spend; return the number of new credit lines."""
    found = CAMPAIGNS.of(database).find(_SPENDING, {"_id": 1})
    return bound_to_funds(database, {advertiser_of(each["_id"]) for each in found}, now)


def recount(database: Database[Document], now: datetime) -> int:
    """Count the commitment of each account with a credit line again; return their number.

    Containers of a Plaza version without credit lines released money without a commitment.
    """
    bounded = list(ACCOUNTS.of(database).find({"credit_micros": {"$gte": 0}}, {"_id": 1}))
    for account in bounded:
        _recount(database, account["_id"], now)
    return len(bounded)


def take_back(database: Database[Document], now: datetime) -> int:
    """Take back the available money of campaigns at rest; return the number of campaigns.

    Only from campaigns of advertisers with a credit line: their other campaigns may then spend the
    money. A later run takes back the money that leases return after this run, and the money of
    campaigns beyond `MAX_TAKEN_BACK`.
    """
    bounded = ACCOUNTS.of(database).find({"credit_micros": {"$gte": 0}}, {"_id": 1})
    ids = {each["_id"] for each in bounded}
    if not ids:
        return 0
    holding = {**_AT_REST, "balance.available_micros": {"$gt": 0}}
    found = CAMPAIGNS.of(database).find(holding, {"_id": 1})
    due = [each["_id"] for each in found if accounts.of_campaign(each["_id"]) in ids]
    return sum(_take_back(database, campaign_id, now) for campaign_id in due[:MAX_TAKEN_BACK])


def _take_back(database: Database[Document], campaign_id: str, now: datetime) -> bool:
    def work(session: ClientSession) -> bool:
        this = {"_id": campaign_id, **_AT_REST}
        campaign = CAMPAIGNS.of(database).find_one(this, session=session)
        available = campaign["balance"]["available_micros"] if campaign else 0
        if not available:
            return False
        changes = {"balance.released_micros": -available, "balance.available_micros": -available}
        CAMPAIGNS.of(database).update_one(this, {"$inc": changes}, session=session)
        ledger.record(database, session, Movement(campaign_id, "release", -available, now))
        balances.commit(database, session, campaign_id, -available)
        return True

    try:
        return in_transaction(database, work)
    except Problem as problem:
        fields = {"campaign_id": campaign_id, "reason": problem.code}
        log.warning("money not taken back", extra={"fields": fields})
        return False


def _recount(database: Database[Document], account_id: str, now: datetime) -> None:
    def work(session: ClientSession) -> None:
        this = {"_id": account_id, "credit_micros": {"$exists": True}}
        change = {"$set": {"committed_micros": _count(database, session, account_id)}}
        ACCOUNTS.of(database).update_one(this, change, session=session)

    try:
        in_transaction(database, work)
    except Problem as problem:
        fields = {"account": account_id, "at": now.isoformat(), "reason": problem.code}
        log.warning("funds not counted", extra={"fields": fields})


def _count(database: Database[Document], session: ClientSession, account_id: str) -> int:
    """Return the released money of an advertiser's campaigns minus its debited settlements."""
    advertiser = account_id.partition(":")[2]
    own: Document = {"_id": prefix_range(f"{advertiser}:")}
    released = _total(database, session, CAMPAIGNS, own, "$balance.released_micros")
    account = ACCOUNTS.of(database).find_one({"_id": account_id}, session=session)
    marks = [mark["transfer_id"] for mark in (account or {"pending": []})["pending"]]
    # A mark stays from the debit until the transfer ends, paid or rolled back.
    has_left = {"state": {"$in": ["committed", "retired"]}}
    is_out: Document = {"$or": [has_left, {"_id": {"$in": marks}}]}
    ids = {"$gte": SETTLEMENT, "$lt": SETTLEMENT + "\x7f"}
    settled: Document = {"$and": [{"source": account_id, "_id": ids}, is_out]}
    paid = _total(database, session, TRANSFERS, settled, "$amount_micros")
    return released - paid


def _total(
    database: Database[Document],
    session: ClientSession,
    collection: Collection[StoredCampaign] | Collection[Transfer],
    only: Document,
    amount: str,
) -> int:
    pipeline: list[Document] = [
        {"$match": only},
        {"$group": {"_id": None, "micros": {"$sum": amount}}},
    ]
    found = collection.read_as(_Total, database).aggregate(pipeline, session=session)
    return sum(each["micros"] for each in found)
