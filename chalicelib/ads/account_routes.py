"""The routes of the accounts: what one holds, and moving money out of it."""

from http import HTTPStatus
from typing import Annotated

from chalice.app import Blueprint, Response
from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from chalicelib.ads import accounts, transfers
from chalicelib.ads.accounts import AccountId
from chalicelib.ads.models import MAX_BUDGET_MICROS
from chalicelib.ads.rights import require_account_owner
from chalicelib.ads.transfers import Movement
from chalicelib.database import Document
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.http import Input, Request, reply, router
from chalicelib.runtime import Runtime

_IDEMPOTENCY_KEY: TypeAdapter[str] = TypeAdapter(
    Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
)


class NewTransfer(Input):
    """The body of `POST /accounts/{id}/transfers`: where to, and how much."""

    to: AccountId
    amount_micros: int = Field(ge=1, le=MAX_BUDGET_MICROS)


def routes(runtime: Runtime) -> Blueprint:
    """Return the accounts' routes."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime)
    database = runtime.database

    @route("GET", "/accounts/{account}")
    def get_account(request: Request, account: AccountId) -> Response:
        require_account_owner(request, account)
        return reply(_account(accounts.get(database, account)))

    @route("POST", "/accounts/{account}/transfers")
    def post_transfer(request: Request, account: AccountId) -> Response:
        caller = require_account_owner(request, account)
        wanted = request.body(NewTransfer)
        if wanted.to == account:
            raise InvalidRequest(errors=[FieldError("to", "same_account", "It comes from there")])
        key, now = _idempotency_key(request), runtime.now()
        if caller.has("admin"):
            accounts.open_account(database, account, now)
            accounts.open_account(database, wanted.to, now)
        accounts.get(database, account)
        accounts.get(database, wanted.to)
        movement = Movement(account, wanted.to, wanted.amount_micros)
        moved = transfers.transfer(database, f"{account}/{key}", movement, now)
        return reply(_transfer(moved), HTTPStatus.CREATED)

    return blueprint


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


def _transfer(stored: Document) -> Document:
    return {
        "transfer_id": stored["_id"],
        "from": stored["source"],
        "to": stored["target"],
        "amount_micros": stored["amount_micros"],
        "state": stored["state"],
    }
