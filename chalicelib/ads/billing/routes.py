"""The interface to money: accounts, transfers and credit lines."""

from typing import Annotated, NotRequired

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from chalicelib.ads import accounts
from chalicelib.ads.accounts import (
    BANK,
    MAX_PENDING,
    NETWORK,
    Account,
    AccountId,
    AdvertiserAccountId,
)
from chalicelib.ads.billing import funds, transfers
from chalicelib.ads.billing.transfers import Payment, State, Transfer
from chalicelib.ads.bounds import MAX_BUDGET_MICROS
from chalicelib.ads.errors import (
    InsufficientFunds,
    TooManyTransfers,
    TransferInProgress,
    UnknownAccount,
)
from chalicelib.ads.permissions import check_advertiser
from chalicelib.errors import FieldError, Forbidden, IdempotencyKeyReused, InvalidRequest
from chalicelib.http import Created, Input, Ok, Request, Route
from chalicelib.http.callers import AccountOwner, Admin
from chalicelib.http.idempotency import required_key_of
from chalicelib.identity import Principal
from chalicelib.limits import MONEY
from chalicelib.sites.permissions import check_publisher


class NewTransfer(Input):
    """A transfer out of an account: where to, and how much."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"to_account_id": "advertiser:north-bikes", "amount_micros": 50_000_000}]
        }
    )

    to_account_id: AccountId = Field(description="Another account than the one that pays.")
    amount_micros: int = Field(
        ge=1, le=MAX_BUDGET_MICROS, description="In millionths of the currency."
    )


class CreditLine(Input):
    """The credit line of an advertiser's account."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"credit_micros": 1_000_000_000}]})

    credit_micros: int | None = Field(
        ge=0,
        le=MAX_BUDGET_MICROS,
        description="What its campaigns may take on beyond its balance, in millionths of the "
        "currency. Null for campaigns that no funds bound, in a deployment without "
        "`PLAZA_PREPAYMENT` alone.",
    )


# `<account>/<client's key>`, or `settlement/<day>/<campaign>/<site>/<payee>/<micros paid before>`.
TransferId = Annotated[str, Field(max_length=400, examples=["advertiser:north-bikes/refund-7"])]


class AccountAnswer(TypedDict):
    """An account: an advertiser's funds, or what a site or the network has earned."""

    id: AccountId
    balance_micros: Annotated[
        int, Field(description="In millionths of the currency. The bank's alone may be negative.")
    ]
    pending_transfer_ids: Annotated[
        list[TransferId], Field(max_length=MAX_PENDING, description="The transfers under way.")
    ]
    credit_micros: NotRequired[
        Annotated[
            int,
            Field(description="What its campaigns may take on beyond the balance, if bounded."),
        ]
    ]
    committed_micros: NotRequired[
        Annotated[
            int,
            Field(
                description="What its campaigns have been given to spend and have not paid yet. "
                "Present with `credit_micros`."
            ),
        ]
    ]


class TransferAnswer(TypedDict):
    """A transfer between two accounts."""

    id: TransferId
    from_account_id: AccountId
    to_account_id: AccountId
    amount_micros: Annotated[int, Field(description="In millionths of the currency.")]
    state: Annotated[State, Field(description="`retired`: the money has arrived.")]


def account_answer(stored: Account) -> AccountAnswer:
    """Return the API's form of an account, with its credit line and commitment if it has a line."""
    answer: AccountAnswer = {
        "id": stored["_id"],
        "balance_micros": stored["balance_micros"],
        "pending_transfer_ids": [mark["transfer_id"] for mark in stored["pending"]],
    }
    if "credit_micros" in stored:
        answer["credit_micros"] = stored["credit_micros"]
    if "committed_micros" in stored:
        answer["committed_micros"] = stored["committed_micros"]
    return answer


def transfer_answer(stored: Transfer) -> TransferAnswer:
    """Return the API's form of a transfer."""
    return {
        "id": stored["_id"],
        "from_account_id": stored["source"],
        "to_account_id": stored["target"],
        "amount_micros": stored["amount_micros"],
        "state": stored["state"],
    }


def check_account_owner(caller: Principal, account_id: str) -> None:
    """Raise Forbidden unless the caller owns this account.

    Admins own every account, and they alone own the bank and the network.
    """
    kind, _, owner = account_id.partition(":")
    if account_id in (BANK, NETWORK):
        if not caller.has("admin"):
            raise Forbidden("This account belongs to the network")
    elif kind == "advertiser":
        check_advertiser(caller, owner)
    else:
        check_publisher(caller, owner)


def declare(route: Route) -> None:
    """Declare the routes of accounts, transfers and credit lines."""
    _declare_accounts(route)
    _declare_credit(route)


def _declare_accounts(route: Route) -> None:
    @route("GET", "/accounts/{account}", raises=(UnknownAccount,))
    def get_account(
        request: Request, account: AccountId, caller: AccountOwner
    ) -> Ok[AccountAnswer]:
        """Read an account: its balance, and the transfers under way.

        For its owner: the advertiser, the site's publisher, or an admin.
        """
        check_account_owner(caller, account)
        return Ok(account_answer(accounts.get(request.runtime.database, account)))

    @route(
        "POST",
        "/accounts/{account}/transfers",
        limit=MONEY,
        needs_idempotency_key=True,
        raises=(
            UnknownAccount,
            InsufficientFunds,
            TooManyTransfers,
            TransferInProgress,
            IdempotencyKeyReused,
        ),
    )
    def transfer_money(
        request: Request, account: AccountId, caller: AccountOwner, body: NewTransfer
    ) -> Created[TransferAnswer]:
        """Move money out of an account, once for each key.

        For the account's owner. An admin's transfer opens missing accounts. After a refusal for
        lack of money, a call with the same key tries again.
        """
        check_account_owner(caller, account)
        return Created(transfer_answer(_transfer(request, account, caller, body)))


def _transfer(request: Request, account: str, caller: Principal, wanted: NewTransfer) -> Transfer:
    to, amount = wanted.to_account_id, wanted.amount_micros
    if to == account:
        fault = FieldError("to_account_id", "same_account", "This is the account that pays")
        raise InvalidRequest(errors=[fault])
    database, now = request.runtime.database, request.runtime.now()
    key = required_key_of(request)
    if caller.has("admin"):
        accounts.open_account(database, account, now)
        accounts.open_account(database, to, now)
    accounts.get(database, account)
    try:
        accounts.get(database, to)
    except UnknownAccount:
        fault = FieldError("to_account_id", UnknownAccount.code, "There is no such account")
        raise UnknownAccount(errors=[fault]) from None
    request.details |= {"to": to, "amount_micros": amount, "key": key}
    return transfers.transfer(database, f"{account}/{key}", Payment(account, to, amount), now)


def _declare_credit(route: Route) -> None:
    @route("PUT", "/accounts/{account}/credit", limit=MONEY)
    def put_credit_line(
        request: Request, account: AdvertiserAccountId, admin: Admin, body: CreditLine
    ) -> Ok[AccountAnswer]:
        """Set or remove the credit line of an advertiser's account.

        With a line, even of 0, the account's funds limit its campaigns. A line below the commitment
        stops further releases to campaigns.
        """
        del admin
        credit = body.credit_micros
        if credit is None and request.runtime.settings.prepayment:
            fault = FieldError("credit_micros", "prepayment", "Campaigns here run on funds: name 0")
            raise InvalidRequest(errors=[fault])
        request.details["credit_micros"] = credit
        database, now = request.runtime.database, request.runtime.now()
        return Ok(account_answer(funds.set_credit(database, account, credit, now)))
