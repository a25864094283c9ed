"""Transfers of money between two accounts, without a transaction over both documents.

A transfer goes through states. Each write changes one document and is idempotent.
Source: "MongoDB Applied Design Patterns", ch. 3, compensation:

    new ──commit──▶ committed ──retire──▶ retired
     └──abandon──▶ rollback ──roll back──▶ rolled_back ──a new attempt──▶ new

Only the caller that started an attempt prepares it, so no step prepares a committed attempt. If
another caller abandons the attempt meanwhile, the starter notices at its commit and removes its
marks. If the starter dies before its commit, `clean_up` finds the marks in the accounts.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from pymongo import ASCENDING, IndexModel, ReturnDocument
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from chalicelib.ads import accounts
from chalicelib.ads.accounts import Attempt
from chalicelib.ads.errors import InsufficientFunds, TooManyTransfers, TransferInProgress
from chalicelib.database import Collection, Document
from chalicelib.errors import IdempotencyKeyReused, Problem, Unavailable

State = Literal["new", "committed", "retired", "rollback", "rolled_back"]


class Transfer(Attempt):
    """A stored transfer: its payment, and the state of its latest attempt."""

    state: State
    started_at: datetime


TRANSFERS = Collection(
    "ad.transfer",
    Transfer,
    indexes=(
        IndexModel([("state", ASCENDING), ("started_at", ASCENDING)]),
        IndexModel([("source", ASCENDING), ("_id", ASCENDING)]),
    ),
)
# Longer than a function with transfers may run: by then, an unfinished attempt rarely has a live
# caller.
PREPARE_TIMEOUT = timedelta(seconds=60)
# Tries of a debit while other transfers change the same account.
_DEBITS = 5
# Transfers of each state that one run of the clean-up handles.
MAX_CLEANED = 1_000


@dataclass(frozen=True)
class Payment:
    """An amount on its way from one account to another."""

    source: str
    target: str
    amount_micros: int


def transfer(
    database: Database[Document], transfer_id: str, payment: Payment, now: datetime
) -> Transfer:
    """Move an amount once per id, and return the retired transfer.

    Raises:
        IdempotencyKeyReused: the id names another payment.
        TransferInProgress: another call works on this transfer.
        InsufficientFunds, TooManyTransfers: nothing has moved; the same id may try again.
        Unavailable: the transfer took longer than PREPARE_TIMEOUT, and another call rolled it back.

    """
    attempt = _start(database, transfer_id, payment, now)
    if attempt["state"] == "retired":
        return attempt
    prepare(database, attempt)
    commit(database, attempt)
    retire(database, attempt)
    return {**attempt, "state": "retired"}


def prepare(database: Database[Document], attempt: Attempt) -> None:
    """Hold the amount in the source and announce it in the target.

    Raises InsufficientFunds, and TooManyTransfers if an account has MAX_PENDING under way. Both
    roll the attempt back.
    """
    refusal = _debit(database, attempt)
    if refusal is None and not accounts.announce(database, attempt):
        refusal = TooManyTransfers("Too many transfers to the target are under way")
    if refusal is not None:
        _abandon(database, attempt)
        raise refusal


def _debit(database: Database[Document], attempt: Attempt) -> Problem | None:
    """Debit the source; return the reason of a refusal, or None.

    After a failed debit, read the account. If the account can pay by now, another transfer has
    changed it in between: try again, up to _DEBITS times.
    """
    for _ in range(_DEBITS):
        if accounts.debit(database, attempt):
            return None
        source = accounts.get(database, attempt["source"])
        if accounts.spare_micros(source, attempt) < attempt["amount_micros"]:
            break
        if len(source["pending"]) >= accounts.MAX_PENDING:
            return TooManyTransfers("Too many transfers of this account are under way")
    # The account lacks money now. Or each try failed, although each read after it found money and
    # room for a transfer: other transfers change the account too often.
    return InsufficientFunds()


def commit(database: Database[Document], attempt: Attempt) -> None:
    """Make a prepared transfer final; raises Unavailable if another call rolled it back."""
    _change_state(database, attempt, "new", "committed")
    if not _is_in(database, attempt, "committed", "retired"):
        accounts.undo(database, attempt)
        raise Unavailable("The transfer took too long and was rolled back; try again")


def retire(database: Database[Document], attempt: Attempt) -> None:
    """Finish a committed transfer: credit the target, remove both marks."""
    accounts.release_hold(database, attempt)
    accounts.credit(database, attempt)
    _change_state(database, attempt, "committed", "retired")


def roll_back(database: Database[Document], attempt: Attempt) -> None:
    """Finish an abandoned transfer: return the amount to the source, remove both marks."""
    accounts.undo(database, attempt)
    _change_state(database, attempt, "rollback", "rolled_back")


def clean_up(database: Database[Document], now: datetime) -> dict[str, int]:
    """Finish the transfers of dead callers: retire the committed, roll back the timed-out.

    Handles up to MAX_CLEANED of each state. Safe beside transfers under way and other clean-ups.
    Returns the numbers `retired`, `rolled_back` and `stray` (marks of finished attempts).
    """
    committed = _in_state(database, "committed")
    for attempt in committed:
        retire(database, attempt)
    for attempt in _in_state(database, "new", {"started_at": {"$lte": now - PREPARE_TIMEOUT}}):
        _change_state(database, attempt, "new", "rollback")
    abandoned = _in_state(database, "rollback")
    for attempt in abandoned:
        roll_back(database, attempt)
    stray = _undo_strays(database)
    return {"retired": len(committed), "rolled_back": len(abandoned), "stray": stray}


def _undo_strays(database: Database[Document]) -> int:
    """Undo the marks that rolled-back or earlier attempts left in accounts; return their number."""
    undone = 0
    for account in list(accounts.with_pending(database, MAX_CLEANED)):
        for mark in account["pending"]:
            stored = TRANSFERS.of(database).find_one({"_id": mark["transfer_id"]})
            if stored is not None and _is_over(stored, mark["attempt"]):
                stray: Transfer = {**stored, "attempt": mark["attempt"]}
                accounts.undo(database, stray)
                undone += 1
    return undone


def _is_over(stored: Transfer, attempt: int) -> bool:
    """Return whether an attempt is over: rolled back, or followed by a later attempt."""
    return stored["attempt"] > attempt or stored["state"] == "rolled_back"


def _start(
    database: Database[Document], transfer_id: str, payment: Payment, now: datetime
) -> Transfer:
    """Return a new attempt for the caller to prepare, or the retired transfer.

    Retires a committed transfer, and rolls back an attempt older than PREPARE_TIMEOUT. Raises
    IdempotencyKeyReused and TransferInProgress.
    """
    stored = TRANSFERS.of(database).find_one({"_id": transfer_id})
    if stored is None:
        fresh = _first_attempt(transfer_id, payment, now)
        try:
            TRANSFERS.of(database).insert_one(fresh)
        except DuplicateKeyError:
            raise TransferInProgress from None
        return fresh
    if Payment(stored["source"], stored["target"], stored["amount_micros"]) != payment:
        raise IdempotencyKeyReused
    match stored["state"]:
        case "retired":
            return stored
        case "committed":
            retire(database, stored)
            return {**stored, "state": "retired"}
        case "new" if stored["started_at"] > now - PREPARE_TIMEOUT:
            raise TransferInProgress
        case _:
            _abandon(database, stored)
            return _next_attempt(database, stored, now)


def _first_attempt(transfer_id: str, payment: Payment, now: datetime) -> Transfer:
    return {
        "_id": transfer_id,
        "source": payment.source,
        "target": payment.target,
        "amount_micros": payment.amount_micros,
        "attempt": 1,
        "state": "new",
        "started_at": now,
    }


def _next_attempt(database: Database[Document], stored: Transfer, now: datetime) -> Transfer:
    started = TRANSFERS.of(database).find_one_and_update(
        {"_id": stored["_id"], "attempt": stored["attempt"], "state": "rolled_back"},
        {"$set": {"state": "new", "started_at": now}, "$inc": {"attempt": 1}},
        return_document=ReturnDocument.AFTER,
    )
    if started is None:
        raise TransferInProgress
    return started


def _abandon(database: Database[Document], attempt: Attempt) -> None:
    """Roll an attempt back unless it is committed by now."""
    _change_state(database, attempt, "new", "rollback")
    if _is_in(database, attempt, "rollback"):
        roll_back(database, attempt)


def _change_state(database: Database[Document], attempt: Attempt, old: State, new: State) -> None:
    this = {"_id": attempt["_id"], "attempt": attempt["attempt"], "state": old}
    TRANSFERS.of(database).update_one(this, {"$set": {"state": new}})


def _is_in(database: Database[Document], attempt: Attempt, *states: State) -> bool:
    this = {"_id": attempt["_id"], "attempt": attempt["attempt"], "state": {"$in": states}}
    return TRANSFERS.of(database).find_one(this, {"_id": 1}) is not None


def _in_state(
    database: Database[Document], state: State, condition: Document | None = None
) -> list[Transfer]:
    found = TRANSFERS.of(database).find({"state": state, **(condition or {})})
    return list(found.sort("started_at", ASCENDING).limit(MAX_CLEANED))
