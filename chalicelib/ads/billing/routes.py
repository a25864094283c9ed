"""The routes of money: accounts, transfers, what a budget has left, and a site's share."""

from http import HTTPStatus
from typing import Literal

from chalice.app import Response

from chalicelib.ads import accounts
from chalicelib.ads.accounts import Account, AccountId
from chalicelib.ads.billing import funds, revenue_shares, transfers
from chalicelib.ads.billing.models import Credit, NewTransfer, SiteShare
from chalicelib.ads.billing.permissions import require_account_owner
from chalicelib.ads.billing.revenue_shares import WHOLE_BP
from chalicelib.ads.billing.transfers import Payment, Transfer
from chalicelib.ads.ids import PartId
from chalicelib.ads.permissions import require_publisher
from chalicelib.database import Document
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.http import Request, Route, reply
from chalicelib.http.idempotency import required_key_of
from chalicelib.limits import MONEY

# The fields of an account with a credit line.
_FUNDS: tuple[Literal["credit_micros", "committed_micros"], ...] = (
    "credit_micros",
    "committed_micros",
)


def declare(route: Route) -> None:
    """Declare the routes of accounts, transfers, credit lines and revenue shares."""
    _declare_accounts(route)
    _declare_credit(route)
    _declare_sites(route)


def _declare_accounts(route: Route) -> None:
    @route("GET", "/accounts/{account}")
    def get_account(request: Request, account: AccountId) -> Response:
        require_account_owner(request, account)
        return reply(_account(accounts.get(request.runtime.database, account)))

    @route("POST", "/accounts/{account}/transfers", limit=MONEY)
    def post_transfer(request: Request, account: AccountId) -> Response:
        caller = require_account_owner(request, account)
        wanted = request.body(NewTransfer)
        if wanted.to == account:
            raise InvalidRequest(
                errors=[FieldError("to", "same_account", "This is the account that pays")]
            )
        database, now = request.runtime.database, request.runtime.now()
        key = required_key_of(request)
        if caller.has("admin"):
            accounts.open_account(database, account, now)
            accounts.open_account(database, wanted.to, now)
        accounts.get(database, account)
        accounts.get(database, wanted.to)
        request.details |= {"to": wanted.to, "amount_micros": wanted.amount_micros, "key": key}
        payment = Payment(account, wanted.to, wanted.amount_micros)
        moved = transfers.transfer(database, f"{account}/{key}", payment, now)
        return reply(_transfer(moved), HTTPStatus.CREATED)


def _declare_credit(route: Route) -> None:
    @route("PUT", "/accounts/{account}/credit", limit=MONEY)
    def put_credit(request: Request, account: AccountId) -> Response:
        request.principal("admin")
        if not account.startswith("advertiser:"):
            fault = FieldError("account", "no_advertiser", "Advertisers alone have credit")
            raise InvalidRequest(errors=[fault])
        credit = request.body(Credit).credit_micros
        if credit is None and request.runtime.settings.prepayment:
            fault = FieldError("credit_micros", "prepayment", "Campaigns here run on funds: name 0")
            raise InvalidRequest(errors=[fault])
        database, now = request.runtime.database, request.runtime.now()
        return reply(_account(funds.set_credit(database, account, credit, now)))


def _declare_sites(route: Route) -> None:
    @route("GET", "/sites/{site}")
    def get_site(request: Request, site: PartId) -> Response:
        require_publisher(request, site)
        return reply(_site(site, revenue_shares.get_share(request.runtime.database, site)))

    @route("PUT", "/sites/{site}")
    def put_site(request: Request, site: PartId) -> Response:
        request.principal("admin")
        share_bp = round(request.body(SiteShare).revenue_share * WHOLE_BP)
        request.details["revenue_share"] = share_bp / WHOLE_BP
        revenue_shares.put_share(request.runtime.database, site, share_bp)
        return reply(_site(site, share_bp))


def _account(stored: Account) -> Document:
    pending = [mark["transfer_id"] for mark in stored["pending"]]
    return {
        "account_id": stored["_id"],
        "balance_micros": stored["balance_micros"],
        "pending": pending,
        **{name: stored[name] for name in _FUNDS if name in stored},
    }


def _site(site_id: str, share_bp: int) -> Document:
    return {"site_id": site_id, "revenue_share": share_bp / WHOLE_BP}


def _transfer(stored: Transfer) -> Document:
    return {
        "transfer_id": stored["_id"],
        "from": stored["source"],
        "to": stored["target"],
        "amount_micros": stored["amount_micros"],
        "state": stored["state"],
    }
