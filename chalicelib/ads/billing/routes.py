"""The routes of money: accounts, transfers and credit lines."""

from chalicelib.ads import accounts
from chalicelib.ads.accounts import AccountId, AdvertiserAccountId
from chalicelib.ads.billing import funds, transfers
from chalicelib.ads.billing.answers import (
    AccountAnswer,
    TransferAnswer,
    account_answer,
    transfer_answer,
)
from chalicelib.ads.billing.models import CreditLine, NewTransfer
from chalicelib.ads.billing.permissions import Owner, check_account_owner
from chalicelib.ads.billing.transfers import Payment, Transfer
from chalicelib.ads.errors import (
    InsufficientFunds,
    TooManyTransfers,
    TransferInProgress,
    UnknownAccount,
)
from chalicelib.ads.permissions import Admin
from chalicelib.errors import FieldError, IdempotencyKeyReused, InvalidRequest
from chalicelib.http import Created, Ok, Request, Route
from chalicelib.http.idempotency import required_key_of
from chalicelib.identity import Principal
from chalicelib.limits import MONEY


def declare(route: Route) -> None:
    """Declare the routes of accounts, transfers and credit lines."""
    _declare_accounts(route)
    _declare_credit(route)


def _declare_accounts(route: Route) -> None:
    @route("GET", "/accounts/{account}", raises=(UnknownAccount,))
    def get_account(request: Request, account: AccountId, caller: Owner) -> Ok[AccountAnswer]:
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
        request: Request, account: AccountId, caller: Owner, body: NewTransfer
    ) -> Created[TransferAnswer]:
        """Move money out of an account, once for each key.

        For the account's owner. If an admin names an account that there is none of, it is opened.
        A call that was refused for lack of money may be repeated with its key.
        """
        check_account_owner(caller, account)
        return Created(transfer_answer(_transferred(request, account, caller, body)))


def _transferred(
    request: Request, account: str, caller: Principal, wanted: NewTransfer
) -> Transfer:
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
        """Give an advertiser's account a credit line, or none.

        With a line, even of 0, its campaigns are bounded by its funds. A line below what is
        committed stops further spending.
        """
        del admin
        credit = body.credit_micros
        if credit is None and request.runtime.settings.prepayment:
            fault = FieldError("credit_micros", "prepayment", "Campaigns here run on funds: name 0")
            raise InvalidRequest(errors=[fault])
        database, now = request.runtime.database, request.runtime.now()
        return Ok(account_answer(funds.set_credit(database, account, credit, now)))
