"""Campaigns run on their advertiser's funds, or on the credit line that staff gave."""

from dataclasses import replace
from typing import Any

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.ads import accounts, schedules
from chalicelib.ads.billing import funds, settlements, transfers
from chalicelib.ads.billing.transfers import Payment
from chalicelib.ads.budgets import audit, exhaustion, leases
from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.errors import InsufficientFunds, TooManyTransfers
from chalicelib.ads.inventory import campaigns
from chalicelib.runtime import Runtime
from tests.ads.campaigns.test_atomicity import in_threads
from tests.ads.support.events import click, count, impression
from tests.ads.support.factories import (
    activate,
    add_zones,
    advertiser,
    campaign_body,
    placed,
    put_campaign,
)
from tests.ads.support.movements import (
    GRACE,
    PRICE,
    SPRING,
    acquire,
    charge,
    end,
    money,
    settle,
    status,
)
from tests.support.clock import Clock
from tests.support.http_client import Client

ACCOUNT = "advertiser:mercedes"
SUMMER = "mercedes:summer"


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
    exhaustion.refresh_all(runtime.database, runtime.now())


def test_without_funds_a_campaign_is_exhausted_and_displaces_nobody(runtime: Runtime) -> None:
    credit(runtime)

    campaign(runtime, 500)

    assert (status(runtime), placed(runtime, "blog/banner")) == ("exhausted", [])
    assert money(runtime)["released"] == 0
    assert campaigns.get(runtime.database, SPRING)["exhausted_by"] == "funds"


def test_funds_bring_a_campaign_back(runtime: Runtime) -> None:
    credit(runtime)
    campaign(runtime, 500)

    pay_in(runtime, 50 * PRICE)
    refresh(runtime)

    assert (status(runtime), placed(runtime, "blog/banner")) == ("active", [SPRING])
    assert money(runtime) == {"released": 50, "available": 50, "leased": 0, "spent": 0}
    assert "exhausted_by" not in campaigns.get(runtime.database, SPRING)
    assert committed(runtime) == 50 * PRICE


def test_a_credit_line_brings_a_campaign_back(runtime: Runtime) -> None:
    credit(runtime)
    campaign(runtime, 500)

    credit(runtime, 20 * PRICE)
    refresh(runtime)

    assert money(runtime)["available"] == 20


@pytest.mark.parametrize(("micros", "expected"), [(PRICE - 1, "exhausted"), (PRICE, "active")])
def test_an_impression_s_price_is_enough(runtime: Runtime, micros: int, expected: str) -> None:
    credit(runtime, micros)

    campaign(runtime, 500)

    assert status(runtime) == expected


def test_an_account_without_a_line_bounds_nothing(runtime: Runtime) -> None:
    credit(runtime)
    credit(runtime, None)

    campaign(runtime, 500)

    assert money(runtime)["available"] == 500
    assert "committed_micros" not in accounts.get(runtime.database, ACCOUNT)


def test_campaigns_of_one_advertiser_share_scarce_funds(runtime: Runtime) -> None:
    credit(runtime, 300 * PRICE)

    campaign(runtime, 500)
    campaign(runtime, 500, SUMMER)

    for name in (SPRING, SUMMER):
        assert audit.read(runtime.database, name)["available_micros"] == 100 * PRICE


def test_campaigns_at_once_never_take_on_more_than_there_is(runtime: Runtime) -> None:
    credit(runtime, 250 * PRICE)
    names = [f"mercedes:c{number}" for number in range(6)]
    add_zones(runtime, "blog/banner")
    for name in names:
        put_campaign(runtime, name, budget={"total_micros": 100 * PRICE})

    def start(number: int) -> None:
        activate(runtime, names[number])

    in_threads(start, len(names))

    released = [audit.read(runtime.database, name)["released_micros"] for name in names]
    assert sum(released) == 250 * PRICE == committed(runtime)


def test_a_campaign_spends_its_funds_to_the_end_and_not_beyond(runtime: Runtime) -> None:
    pay_in(runtime, 120 * PRICE)
    credit(runtime)
    campaign(runtime, 500)
    for _ in range(4):
        lease = acquire(runtime, 50)
        if lease:
            settle(runtime, lease, 50)
            end(runtime, lease)

    refresh(runtime)

    assert money(runtime)["spent"] == 120
    assert (status(runtime), committed(runtime)) == ("exhausted", 120 * PRICE)
    assert campaigns.get(runtime.database, SPRING)["exhausted_by"] == "funds"


def test_clicks_are_bounded_too(runtime: Runtime) -> None:
    credit(runtime, 2 * PRICE)
    pricing = {"type": "cpc", "bid_micros": PRICE}
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING, pricing=pricing, budget={"total_micros": 100 * PRICE})
    activate(runtime, SPRING)

    assert charge(runtime, PRICE, PRICE, PRICE) == [True, True, False]


def test_a_spent_budget_is_named_as_the_reason(runtime: Runtime) -> None:
    credit(runtime, 500 * PRICE)
    campaign(runtime, 50)
    lease = acquire(runtime)
    assert lease
    settle(runtime, lease, 50)
    end(runtime, lease)

    refresh(runtime)

    assert campaigns.get(runtime.database, SPRING)["exhausted_by"] == "budget"


def test_settling_frees_no_funds_and_takes_none_twice(runtime: Runtime, clock: Clock) -> None:
    pay_in(runtime, 100 * PRICE)
    credit(runtime)
    campaign(runtime, 40)
    lease = acquire(runtime, 40)
    assert lease
    count(runtime, *(impression(n, lease["_id"], runtime.now()) for n in range(40)))
    clock.advance(days=1)

    settlements.settle(runtime.database, runtime.now())

    account = accounts.get(runtime.database, ACCOUNT)
    assert (account["balance_micros"], committed(runtime)) == (60 * PRICE, 0)


def test_a_settlement_that_is_rolled_back_is_committed_again(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    test_settling_frees_no_funds_and_takes_none_twice(runtime, clock)
    movement = Payment(ACCOUNT, "site:blog", 10 * PRICE)
    monkeypatch.setattr(accounts, "announce", lambda *_: False)

    with pytest.raises(TooManyTransfers):
        transfers.transfer(runtime.database, "settlement/x/0", movement, runtime.now())

    assert committed(runtime) == 0
    assert accounts.get(runtime.database, ACCOUNT)["balance_micros"] == 60 * PRICE


def test_funds_under_way_to_a_site_are_counted_once(runtime: Runtime) -> None:
    pay_in(runtime, 100 * PRICE)
    credit(runtime)
    campaign(runtime, 20)
    accounts.open_account(runtime.database, "site:blog", runtime.now())
    movement = Payment(ACCOUNT, "site:blog", 5 * PRICE)
    attempt = transfers._start(runtime.database, "settlement/x/0", movement, runtime.now())

    for step in (transfers.prepare, transfers.commit, transfers.retire):
        step(runtime.database, attempt)
        assert committed(runtime) == 15 * PRICE


def test_funds_that_campaigns_have_taken_on_cannot_be_withdrawn(runtime: Runtime) -> None:
    pay_in(runtime, 100 * PRICE)
    credit(runtime)
    campaign(runtime, 20)

    def withdraw(impressions: int) -> None:
        movement = Payment(ACCOUNT, accounts.BANK, impressions * PRICE)
        transfers.transfer(runtime.database, f"out/{impressions}", movement, runtime.now())

    with pytest.raises(InsufficientFunds):
        withdraw(81)
    withdraw(80)
    assert accounts.get(runtime.database, ACCOUNT)["balance_micros"] == 20 * PRICE


def test_a_paused_campaign_s_money_is_its_advertiser_s_again(
    runtime: Runtime, clock: Clock
) -> None:
    credit(runtime, 400 * PRICE)
    campaign(runtime, 100)
    lease = acquire(runtime, 30)
    assert lease
    settle(runtime, lease, 10)
    lifecycle.deactivate(runtime.database, SPRING)

    assert funds.take_back(runtime.database, runtime.now()) == 1
    assert funds.take_back(runtime.database, runtime.now()) == 0
    assert money(runtime) == {"released": 30, "available": 0, "leased": 20, "spent": 10}
    assert committed(runtime) == 30 * PRICE

    clock.advance(minutes=21)
    leases.end_expired(runtime.database, GRACE, clock())
    funds.take_back(runtime.database, clock())
    assert committed(runtime) == 10 * PRICE
    activate(runtime, SPRING)
    assert money(runtime) == {"released": 100, "available": 90, "leased": 0, "spent": 10}


def test_nothing_is_taken_back_of_an_advertiser_without_a_line(runtime: Runtime) -> None:
    campaign(runtime, 100)
    lifecycle.deactivate(runtime.database, SPRING)

    assert funds.take_back(runtime.database, runtime.now()) == 0
    assert money(runtime)["available"] == 100


def test_a_line_counts_what_was_spent_and_paid_before_it(runtime: Runtime, clock: Clock) -> None:
    pay_in(runtime, 100 * PRICE)
    campaign(runtime, 60)
    lease = acquire(runtime, 40)
    assert lease
    count(runtime, *(impression(n, lease["_id"], runtime.now()) for n in range(40)))
    clock.advance(days=1)
    settlements.settle(runtime.database, runtime.now())

    credit(runtime)

    assert committed(runtime) == 20 * PRICE


@pytest.fixture
def prepaid(runtime: Runtime) -> Runtime:
    """A deployment whose advertisers pay first."""
    return replace(runtime, settings=runtime.settings.model_copy(update={"prepayment": True}))


def test_where_advertisers_pay_first_the_schedule_bounds_those_that_spend(
    prepaid: Runtime,
) -> None:
    campaign(prepaid, 500)
    assert money(prepaid)["available"] == 500

    assert schedules.tend(prepaid)["advertisers_bounded"] == 1
    assert schedules.tend(prepaid)["advertisers_bounded"] == 0

    assert accounts.get(prepaid.database, ACCOUNT)["credit_micros"] == 0
    assert committed(prepaid) == 500 * PRICE


def test_a_line_that_staff_gave_stays(prepaid: Runtime) -> None:
    credit(prepaid, 7)

    funds.bound(prepaid.database, ["mercedes"], prepaid.now())

    assert accounts.get(prepaid.database, ACCOUNT)["credit_micros"] == 7


def test_an_advertiser_sees_why_a_campaign_is_exhausted(prepaid: Runtime, token: Any) -> None:
    client = Client(create_app(prepaid, LocalChalice), token)
    add_zones(prepaid, "blog/banner")
    owner = advertiser(client)
    owner.put(f"/campaigns/{SPRING}", **campaign_body())

    reply = owner.post(f"/campaigns/{SPRING}/activate")

    assert (reply.json["status"], reply.json["exhausted_by"]) == ("exhausted", "funds")


def test_staff_give_credit_and_nobody_else(client: Client) -> None:
    path, admin = f"/accounts/{ACCOUNT}/credit", client.as_("root", roles=["admin"])

    given = admin.put(path, credit_micros=5_000)

    assert given.json == {
        "account_id": ACCOUNT,
        "balance_micros": 0,
        "pending": [],
        "credit_micros": 5_000,
        "committed_micros": 0,
    }
    assert "credit_micros" not in admin.put(path, credit_micros=None).json
    assert advertiser(client).put(path, credit_micros=5).code == "forbidden"
    assert admin.put("/accounts/site:blog/credit", credit_micros=5).code == "invalid_request"
    assert admin.put(path, credit_micros=-1).code == "invalid_request"
    assert admin.put(path).code == "invalid_request"


def test_with_prepayment_nobody_is_left_without_a_line(prepaid: Runtime, client: Client) -> None:
    client = Client(create_app(prepaid, LocalChalice), client.token)
    path, admin = f"/accounts/{ACCOUNT}/credit", client.as_("root", roles=["admin"])

    refused = admin.put(path, credit_micros=None)

    assert refused.code == "invalid_request"
    assert refused.json["errors"][0]["code"] == "prepayment"
    assert admin.put(path, credit_micros=0).json["credit_micros"] == 0


def test_clicks_of_two_campaigns_at_once_stay_within_the_funds(runtime: Runtime) -> None:
    credit(runtime, 3_000)
    audi = {"type": "cpc", "bid_micros": 1_000}
    add_zones(runtime, "blog/banner")
    for name in (SPRING, SUMMER):
        put_campaign(runtime, name, pricing=audi, budget={"total_micros": 100_000})
        activate(runtime, name)

    def pay(number: int) -> None:
        name = (SPRING, SUMMER)[number % 2]
        count(runtime, click(number, runtime.now(), campaign_id=name, price_micros=1_000))

    in_threads(pay, 8)

    spent = [audit.read(runtime.database, name)["spent_micros"] for name in (SPRING, SUMMER)]
    assert sum(spent) <= 3_000
    assert committed(runtime) == 3_000
