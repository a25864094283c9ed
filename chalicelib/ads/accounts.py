"""Accounts: what an advertiser has paid in, and what is due to a site and to the network.

Money is only ever moved (`transfers.py`), so the balances of all accounts together with what
is on its way add up to nothing: the bank's is below zero by what was paid in through it.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, TypedDict

from pydantic import StringConstraints
from pymongo import ASCENDING, IndexModel
from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.errors import UnknownAccount
from chalicelib.validators import AtMost

# Where money enters and leaves; it alone may be overdrawn.
BANK = "bank"
# What is left of an impression's price once its site has its share.
NETWORK = "network"
_OWNER = "[a-z0-9_-]{1,64}"
AccountId = Annotated[
    str, StringConstraints(pattern=f"^({BANK}|{NETWORK}|advertiser:{_OWNER}|site:{_OWNER})$")
]

# Transfers under way in one account; the next one waits.
MAX_PENDING = 100


class Mark(TypedDict):
    """What stands in an account for a transfer under way."""

    transfer_id: str
    attempt: int


class Account(TypedDict):
    """An account as it is stored."""

    _id: str
    balance_micros: int
    pending: Annotated[list[Mark], AtMost(MAX_PENDING)]
    opened_at: datetime


ACCOUNTS = Collection(
    "ad.account", Account, indexes=(IndexModel([("pending.transfer_id", ASCENDING)], sparse=True),)
)


def of_advertiser(advertiser: str) -> str:
    """Return the id of an advertiser's account."""
    return f"advertiser:{advertiser}"


def of_site(site_id: str) -> str:
    """Return the id of the account in which a site's revenue gathers."""
    return f"site:{site_id}"


def open_account(database: Database[Document], account_id: str, now: datetime) -> None:
    """Make an account with a balance of 0; one that exists stays as it is."""
    database[ACCOUNTS.name].update_one(
        {"_id": account_id},
        {"$setOnInsert": {"balance_micros": 0, "pending": [], "opened_at": now}},
        upsert=True,
    )


def get(database: Database[Document], account_id: str) -> Document:
    """Return an account; raises UnknownAccount."""
    account = database[ACCOUNTS.name].find_one({"_id": account_id})
    if account is None:
        raise UnknownAccount
    return account


def with_pending(database: Database[Document], limit: int) -> Iterator[Document]:
    """Yield accounts that bear a pending transfer."""
    return database[ACCOUNTS.name].find({"pending.transfer_id": {"$gt": ""}}, limit=limit)


def debit(database: Database[Document], transfer: Document) -> bool:
    """Take a transfer's amount out of its source and hold it there; tell whether it could be.

    Doing it again changes nothing.
    """
    amount: int = transfer["amount_micros"]
    covered = {} if transfer["source"] == BANK else {"balance_micros": {"$gte": amount}}
    return _add_pending(database, transfer, "source", -amount, covered)


def announce(database: Database[Document], transfer: Document) -> bool:
    """Note in a transfer's target what will come; its balance does not change before `credit`."""
    return _add_pending(database, transfer, "target", 0, {})


def release_hold(database: Database[Document], transfer: Document) -> None:
    """Let go of what was held in the source: the money has left."""
    _take_pending(database, transfer["source"], transfer, 0)


def credit(database: Database[Document], transfer: Document) -> None:
    """Add a transfer's amount to its target, where it was announced and has not yet come."""
    _take_pending(database, transfer["target"], transfer, transfer["amount_micros"])


def undo(database: Database[Document], transfer: Document) -> None:
    """Give back what the source holds for a transfer, and forget it in the target."""
    _take_pending(database, transfer["source"], transfer, transfer["amount_micros"])
    _take_pending(database, transfer["target"], transfer, 0)


def _add_pending(
    database: Database[Document],
    transfer: Document,
    side: str,
    change_micros: int,
    condition: Document,
) -> bool:
    entry = _entry(transfer)
    account_id = transfer[side]
    result = database[ACCOUNTS.name].update_one(
        {
            "_id": account_id,
            "pending": {"$not": {"$elemMatch": entry}},
            f"pending.{MAX_PENDING - 1}": {"$exists": False},
            **condition,
        },
        {"$inc": {"balance_micros": change_micros}, "$push": {"pending": entry}},
    )
    if result.matched_count:
        return True
    there = {"_id": account_id, "pending": {"$elemMatch": entry}}
    return database[ACCOUNTS.name].find_one(there, {"_id": 1}) is not None


def _take_pending(
    database: Database[Document], account_id: str, transfer: Document, change_micros: int
) -> None:
    entry = _entry(transfer)
    database[ACCOUNTS.name].update_one(
        {"_id": account_id, "pending": {"$elemMatch": entry}},
        {"$inc": {"balance_micros": change_micros}, "$pull": {"pending": entry}},
    )


def _entry(transfer: Document) -> Mark:
    """Return a transfer's mark in its accounts; a new attempt bears another one."""
    return {"transfer_id": transfer["_id"], "attempt": transfer["attempt"]}
