"""The routes of money: accounts, transfers, what a budget has left, and a site's share."""

import math
from http import HTTPStatus
from typing import Annotated

from chalice.app import Blueprint, Response
from pydantic import Field, StringConstraints, TypeAdapter, ValidationError, field_validator

from chalicelib.ads import accounts, budgets, sites, transfers
from chalicelib.ads.accounts import AccountId
from chalicelib.ads.models import MAX_BUDGET_MICROS, CampaignId, PartId
from chalicelib.ads.rights import require_account_owner, require_advertiser, require_publisher
from chalicelib.ads.sites import WHOLE_BP
from chalicelib.ads.transfers import Movement
from chalicelib.database import Document
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.http import Input, Request, Route, reply, router
from chalicelib.runtime import Runtime

_IDEMPOTENCY_KEY: TypeAdapter[str] = TypeAdapter(
    Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
)


class NewTransfer(Input):
    """The body of `POST /accounts/{id}/transfers`: where to, and how much."""

    to: AccountId
    amount_micros: int = Field(ge=1, le=MAX_BUDGET_MICROS)


class Site(Input):
    """The body of `PUT /sites/{site}`: its part of what is billed, in hundredths of a percent."""

    revenue_share: float = Field(ge=0, le=1)

    @field_validator("revenue_share")
    @classmethod
    def _check_step(cls, share: float) -> float:
        if not math.isclose(share * WHOLE_BP, round(share * WHOLE_BP), abs_tol=1e-6):
            raise ValueError(f"a share is a multiple of {1 / WHOLE_BP}")
        return share


def routes(runtime: Runtime) -> Blueprint:
    """Return the accounts' routes."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime)
    _declare_accounts(route)
    _declare_budgets(route)
    _declare_sites(route)
    return blueprint


def _declare_accounts(route: Route) -> None:
    @route("GET", "/accounts/{account}")
    def get_account(request: Request, account: AccountId) -> Response:
        require_account_owner(request, account)
        return reply(_account(accounts.get(request.runtime.database, account)))

    @route("POST", "/accounts/{account}/transfers")
    def post_transfer(request: Request, account: AccountId) -> Response:
        caller = require_account_owner(request, account)
        wanted = request.body(NewTransfer)
        if wanted.to == account:
            raise InvalidRequest(errors=[FieldError("to", "same_account", "It comes from there")])
        database, now = request.runtime.database, request.runtime.now()
        key = _idempotency_key(request)
        if caller.has("admin"):
            accounts.open_account(database, account, now)
            accounts.open_account(database, wanted.to, now)
        accounts.get(database, account)
        accounts.get(database, wanted.to)
        movement = Movement(account, wanted.to, wanted.amount_micros)
        moved = transfers.transfer(database, f"{account}/{key}", movement, now)
        return reply(_transfer(moved), HTTPStatus.CREATED)


def _declare_budgets(route: Route) -> None:
    @route("GET", "/campaigns/{campaign}/budget")
    def get_budget(request: Request, campaign: CampaignId) -> Response:
        require_advertiser(request, campaign.partition(":")[0])
        return reply({"campaign_id": campaign, **budgets.read(request.runtime.database, campaign)})


def _declare_sites(route: Route) -> None:
    @route("GET", "/sites/{site}")
    def get_site(request: Request, site: PartId) -> Response:
        require_publisher(request, site)
        return reply(_site(site, sites.get_share(request.runtime.database, site)))

    @route("PUT", "/sites/{site}")
    def put_site(request: Request, site: PartId) -> Response:
        request.principal("admin")
        share_bp = round(request.body(Site).revenue_share * WHOLE_BP)
        sites.put_share(request.runtime.database, site, share_bp)
        return reply(_site(site, share_bp))


def _idempotency_key(request: Request) -> str:
    """Return the header's value; raises InvalidRequest without a usable one."""
    try:
        return _IDEMPOTENCY_KEY.validate_python(request.raw.headers.get("idempotency-key"))
    except ValidationError as error:
        fault = error.errors()[0]
        named = FieldError("Idempotency-Key", fault["type"], fault["msg"])
        raise InvalidRequest(errors=[named]) from None


def _account(stored: Document) -> Document:
    pending = [mark["transfer_id"] for mark in stored["pending"]]
    return {
        "account_id": stored["_id"],
        "balance_micros": stored["balance_micros"],
        "pending": pending,
    }


def _site(site_id: str, share_bp: int) -> Document:
    return {"site_id": site_id, "revenue_share": share_bp / WHOLE_BP}


def _transfer(stored: Document) -> Document:
    return {
        "transfer_id": stored["_id"],
        "from": stored["source"],
        "to": stored["target"],
        "amount_micros": stored["amount_micros"],
        "state": stored["state"],
    }
