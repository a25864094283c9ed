"""Accounts: an advertiser's payments, a site's and the network's earnings, and the bank.

Transfers (`transfers.py`) only move money, so all balances and all amounts under way add up to 0.
The bank's balance is minus the net sum that came in through it.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

from pydantic import StringConstraints
from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from chalicelib.ads.errors import UnknownAccount
from chalicelib.ads.ids import PART, advertiser_of
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.sites.ids import SITE

# Where money enters and leaves; it alone may be overdrawn.
BANK = "bank"
# The rest of an impression's price after the site's share.
NETWORK = "network"
AccountId = Annotated[
    str, StringConstraints(pattern=f"^({BANK}|{NETWORK}|advertiser:{PART}|site:{SITE})$")
]
# Advertisers alone have credit lines.
AdvertiserAccountId = Annotated[str, StringConstraints(pattern=f"^advertiser:{PART}$")]

# The prefix of the ids of transfers that pay the spending of campaigns.
SETTLEMENT = "settlement/"
# Transfers under way in one account; a further transfer raises TooManyTransfers.
MAX_PENDING = 100


# Balance plus credit minus commitment; the balance alone without a credit line.
_UNCOMMITTED = {
    "$subtract": [
        {"$add": ["$balance_micros", {"$ifNull": ["$credit_micros", 0]}]},
        {"$ifNull": ["$committed_micros", 0]},
    ]
}


class PendingTransfer(TypedDict):
    """The mark of a transfer under way in an account."""

    transfer_id: str
    attempt: int


class Account(TypedDict):
    """A stored account.

    `credit_micros`: the credit line; missing: no funds limit the advertiser's campaigns.
    `committed_micros`: the commitment of these campaigns (`funds.py`); missing without a line.
    """

    _id: str
    balance_micros: int
    pending: Annotated[list[PendingTransfer], AtMost(MAX_PENDING)]
    opened_at: datetime
    credit_micros: NotRequired[int]
    committed_micros: NotRequired[int]


class Attempt(TypedDict):
    """The fields of a transfer's attempt that its two accounts need."""

    _id: str
    source: str
    target: str
    amount_micros: int
    attempt: int


ACCOUNTS = Collection(
    "ad.account",
    Account,
    indexes=(
        IndexModel([("pending.transfer_id", ASCENDING)], sparse=True),
        IndexModel([("credit_micros", ASCENDING)], sparse=True),
    ),
)


def of_advertiser(advertiser: str) -> str:
    """Return the id of an advertiser's account."""
    return f"advertiser:{advertiser}"


def of_campaign(campaign_id: str) -> str:
    """Return the id of the account of a campaign's advertiser."""
    return of_advertiser(advertiser_of(campaign_id))


def of_site(site_id: str) -> str:
    """Return the id of the account of a site's revenue."""
    return f"site:{site_id}"


def open_account(database: Database[Document], account_id: str, now: datetime) -> None:
    """Make an account with a balance of 0; an existing account stays as it is."""
    ACCOUNTS.of(database).update_one(
        {"_id": account_id},
        {"$setOnInsert": {"balance_micros": 0, "pending": [], "opened_at": now}},
        upsert=True,
    )


def get(database: Database[Document], account_id: str) -> Account:
    """Return an account; raises UnknownAccount."""
    account = ACCOUNTS.of(database).find_one({"_id": account_id})
    if account is None:
        raise UnknownAccount
    return account


def with_pending(database: Database[Document], limit: int) -> Iterator[Account]:
    """Yield up to `limit` accounts with a pending transfer."""
    return ACCOUNTS.of(database).find({"pending.transfer_id": {"$gt": ""}}, limit=limit)


def spare_micros(account: Account, transfer: Attempt) -> int:
    """Return the most that a transfer may take out of an account.

    With a credit line, money that campaigns have committed pays settlements only.
    """
    balance = account["balance_micros"]
    if account["_id"] == BANK:
        return transfer["amount_micros"]
    if _is_settlement(transfer) or "credit_micros" not in account:
        return balance
    uncommitted = balance + account["credit_micros"] - account["committed_micros"]
    return min(balance, uncommitted)


def debit(database: Database[Document], transfer: Attempt) -> bool:
    """Hold a transfer's amount in its source; return whether the source holds it now.

    False: the source lacks money, or MAX_PENDING transfers are under way. Idempotent.
    """
    amount = transfer["amount_micros"]
    covered: Document = {}
    if transfer["source"] != BANK:
        covered["balance_micros"] = {"$gte": amount}
        if not _is_settlement(transfer):
            covered["$expr"] = {"$gte": [_UNCOMMITTED, amount]}
    return _add_pending(database, transfer, "source", -amount, covered)


def announce(database: Database[Document], transfer: Attempt) -> bool:
    """Mark a coming transfer in its target; return False if MAX_PENDING are under way.

    The balance does not change before `credit`. Idempotent.
    """
    return _add_pending(database, transfer, "target", 0, {})


def release_hold(database: Database[Document], transfer: Attempt) -> None:
    """Remove a committed transfer's hold from its source; the balance stays debited."""
    _take_pending(database, transfer["source"], transfer, 0)


def credit(database: Database[Document], transfer: Attempt) -> None:
    """Add a transfer's amount to its target and remove its mark; without the mark do nothing."""
    _take_pending(database, transfer["target"], transfer, transfer["amount_micros"])


def undo(database: Database[Document], transfer: Attempt) -> None:
    """Return a held amount to its source, and remove both marks. Idempotent."""
    _take_pending(database, transfer["source"], transfer, transfer["amount_micros"])
    _take_pending(database, transfer["target"], transfer, 0)


def _add_pending(
    database: Database[Document],
    transfer: Attempt,
    side: Literal["source", "target"],
    change_micros: int,
    condition: Document,
) -> bool:
    entry = _entry(transfer)
    account_id = transfer[side]
    has_room = {
        "_id": account_id,
        "pending": {"$not": {"$elemMatch": entry}},
        f"pending.{MAX_PENDING - 1}": {"$exists": False},
        **condition,
    }
    if _change(database, has_room, transfer, change_micros, {"$push": {"pending": entry}}):
        return True
    there = {"_id": account_id, "pending": {"$elemMatch": entry}}
    return ACCOUNTS.of(database).find_one(there, {"_id": 1}) is not None


def _take_pending(
    database: Database[Document], account_id: str, transfer: Attempt, change_micros: int
) -> None:
    entry = _entry(transfer)
    marked = {"_id": account_id, "pending": {"$elemMatch": entry}}
    _change(database, marked, transfer, change_micros, {"$pull": {"pending": entry}})


def _change(
    database: Database[Document],
    this: Document,
    transfer: Attempt,
    change_micros: int,
    change: Document,
) -> bool:
    """Change an account's balance and marks; return whether `this` matched.

    A settlement changes the commitment of its payer by the same amount.
    """
    by = {"balance_micros": change_micros}
    if _is_settlement(transfer) and change_micros and this["_id"] == transfer["source"]:
        bounded = {**this, "committed_micros": {"$exists": True}}
        both = {"$inc": {**by, "committed_micros": change_micros}, **change}
        if ACCOUNTS.of(database).update_one(bounded, both).matched_count:
            return True
        this = {**this, "committed_micros": {"$exists": False}}
    result = ACCOUNTS.of(database).update_one(this, {"$inc": by, **change})
    return result.matched_count > 0


def _is_settlement(transfer: Attempt) -> bool:
    return transfer["_id"].startswith(SETTLEMENT)


def _entry(transfer: Attempt) -> PendingTransfer:
    """Return the mark of a transfer's attempt in its accounts."""
    return {"transfer_id": transfer["_id"], "attempt": transfer["attempt"]}
