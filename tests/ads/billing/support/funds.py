"""Payments, credit lines and campaigns for the tests of funds."""

from typing import Any

from chalicelib.ads import accounts
from chalicelib.ads.billing import funds, transfers
from chalicelib.ads.billing.transfers import Payment
from chalicelib.ads.budgets import exhaustion
from chalicelib.runtime import Runtime
from tests.ads.support.factories import (
    activate,
    add_zones,
    put_campaign,
)
from tests.ads.support.movements import (
    PRICE,
    SPRING,
)

ACCOUNT = "advertiser:mercedes"


def pay_in(runtime: Runtime, micros: int, key: str = "1") -> None:
    database, now = runtime.database, runtime.now()
    for account_id in (accounts.BANK, ACCOUNT):
        accounts.open_account(database, account_id, now)
    movement = Payment(accounts.BANK, ACCOUNT, micros)
    transfers.transfer(database, f"bank/{key}", movement, now)


def credit(runtime: Runtime, micros: int | None = 0) -> None:
    funds.set_credit(runtime.database, ACCOUNT, micros, runtime.now())


def committed(runtime: Runtime) -> int:
    """What is committed in the account, once it is what counting it again gives."""
    before = accounts.get(runtime.database, ACCOUNT)["committed_micros"]
    funds.recount(runtime.database, runtime.now())
    assert accounts.get(runtime.database, ACCOUNT)["committed_micros"] == before
    return int(before)


def campaign(runtime: Runtime, impressions: int, name: str = SPRING, **budget: Any) -> None:
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, name, budget={"total_micros": impressions * PRICE, **budget})
    activate(runtime, name)


def refresh(runtime: Runtime) -> None:
    exhaustion.refresh_all(runtime.database, runtime.now(), runtime.random)
