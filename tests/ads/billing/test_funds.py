"""Campaigns run on their advertiser's funds, or on the credit line that staff gave."""

import pytest

from chalicelib.ads import accounts
from chalicelib.ads.billing import funds, transfers
from chalicelib.ads.billing.transfers import Payment
from chalicelib.ads.budgets import audit, leases
from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.errors import InsufficientFunds, TooManyTransfers
from chalicelib.ads.inventory import campaigns
from chalicelib.runtime import Runtime
from tests.ads.billing.support import settling
from tests.ads.billing.support.funds import ACCOUNT, campaign, committed, credit, pay_in, refresh
from tests.ads.campaigns.test_atomicity import in_threads
from tests.ads.support.events import click, count, impression
from tests.ads.support.factories import (
    activate,
    add_zones,
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
from tests.comments.stores.test_indexes import Explained
from tests.support.clock import Clock

SUMMER = "mercedes:summer"


def test_without_funds_a_campaign_is_exhausted_and_displaces_nobody(runtime: Runtime) -> None:
    credit(runtime)

    campaign(runtime, 500)

    assert (status(runtime), placed(runtime, "blog/banner")) == ("exhausted", [])
    assert money(runtime)["released"] == 0
    assert campaigns.get(runtime.database, SPRING)["exhausted_by"] == "funds"


def test_funds_reactivate_a_campaign(runtime: Runtime) -> None:
    credit(runtime)
    campaign(runtime, 500)

    pay_in(runtime, 50 * PRICE)
    refresh(runtime)

    assert (status(runtime), placed(runtime, "blog/banner")) == ("active", [SPRING])
    assert money(runtime) == {"released": 50, "available": 50, "leased": 0, "spent": 0}
    assert "exhausted_by" not in campaigns.get(runtime.database, SPRING)
    assert committed(runtime) == 50 * PRICE


@pytest.mark.parametrize(("micros", "expected"), [(PRICE - 1, "exhausted"), (PRICE, "active")])
def test_an_impression_s_price_is_enough(runtime: Runtime, micros: int, expected: str) -> None:
    credit(runtime, micros)

    campaign(runtime, 500)

    assert status(runtime) == expected


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


@pytest.mark.parametrize(("funds", "paid"), [(50, 25), (25, 25), (15, 15)])
def test_clicks_of_one_batch_are_paid_as_far_as_the_funds_go(
    runtime: Runtime, funds: int, paid: int
) -> None:
    """After a wait, a batch has more clicks of a campaign than it may hold money for."""
    credit(runtime, funds * PRICE)
    pricing = {"type": "cpc", "bid_micros": PRICE}
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING, pricing=pricing, budget={"total_micros": 100 * PRICE})
    activate(runtime, SPRING)

    assert charge(runtime, *[PRICE] * 25) == [True] * paid + [False] * (25 - paid)
    assert committed(runtime) == paid * PRICE


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

    settling.settle(runtime)

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


def test_the_search_for_money_at_rest_reads_no_campaign_without_money(runtime: Runtime) -> None:
    credit(runtime, 400 * PRICE)
    campaign(runtime, 100)
    lifecycle.deactivate(runtime.database, SPRING)
    rows = runtime.database["ad.campaign"]
    spent = rows.find_one({"_id": SPRING}) or {}
    spent["balance"] |= {"available_micros": 0, "released_micros": 0}
    rows.insert_many([{**spent, "_id": f"mercedes:spent-{each}"} for each in range(50)])

    with Explained(runtime.database, "ad") as explained:
        assert funds.take_back(runtime.database, runtime.now()) == 1

    (search,) = (
        each
        for each in explained.queries
        if each["command"].get("filter", {}).keys() >= {"status", "balance.available_micros"}
    )
    assert search["docsExamined"] == 1


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
