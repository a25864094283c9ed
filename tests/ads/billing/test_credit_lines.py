"""Credit lines: who gives them, what they bound, and deployments where advertisers pay first."""

from dataclasses import replace
from typing import Any

import pytest
from chalice.local import LocalChalice

from app import create_app
from chalicelib.ads import accounts, jobs
from chalicelib.ads.billing import funds
from chalicelib.ads.campaigns import lifecycle
from chalicelib.runtime import Runtime
from tests.ads.billing.support import settling
from tests.ads.billing.support.funds import ACCOUNT, campaign, committed, credit, pay_in, refresh
from tests.ads.support.events import count, impression
from tests.ads.support.factories import (
    add_zones,
    advertiser,
    campaign_body,
)
from tests.ads.support.movements import (
    PRICE,
    SPRING,
    acquire,
    funded,
    live,
    money,
)
from tests.support.clock import Clock
from tests.support.http_client import Client


def test_a_credit_line_reactivates_a_campaign(runtime: Runtime) -> None:
    credit(runtime)
    campaign(runtime, 500)

    credit(runtime, 20 * PRICE)
    refresh(runtime)

    assert money(runtime)["available"] == 20


def test_the_hours_without_funds_are_not_paid_for(runtime: Runtime, clock: Clock) -> None:
    """Even pacing: new funds make up for no hours in which the campaign could not pay."""
    credit(runtime, 5 * PRICE)
    funded(runtime, 1_000, daily_micros=720 * PRICE)
    live(runtime, clock, hours=2)
    assert money(runtime)["released"] == 5

    credit(runtime, 1_000 * PRICE)
    refresh(runtime)

    assert 5 <= money(runtime)["released"] <= 5 + 15 * 720 // 600
    live(runtime, clock, hours=5)
    assert money(runtime)["released"] == pytest.approx(360, abs=15)


def test_an_account_without_a_line_bounds_nothing(runtime: Runtime) -> None:
    credit(runtime)
    credit(runtime, None)

    campaign(runtime, 500)

    assert money(runtime)["available"] == 500
    assert "committed_micros" not in accounts.get(runtime.database, ACCOUNT)


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
    settling.settle(runtime)

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

    assert jobs.run_minute(prepaid)["advertisers_bounded"] == 1
    assert jobs.run_minute(prepaid)["advertisers_bounded"] == 0

    assert accounts.get(prepaid.database, ACCOUNT)["credit_micros"] == 0
    assert committed(prepaid) == 500 * PRICE


def test_a_line_that_staff_gave_stays(prepaid: Runtime) -> None:
    credit(prepaid, 7)

    funds.bound_to_funds(prepaid.database, ["mercedes"], prepaid.now())

    assert accounts.get(prepaid.database, ACCOUNT)["credit_micros"] == 7


def test_a_line_that_staff_give_during_the_bounding_stays(
    prepaid: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def staff_come_first(*_: Any) -> None:
        monkeypatch.undo()
        credit(prepaid, 7)

    monkeypatch.setattr(accounts, "open_account", staff_come_first)

    assert funds.bound_to_funds(prepaid.database, ["mercedes"], prepaid.now()) == 0

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
        "id": ACCOUNT,
        "balance_micros": 0,
        "pending_transfer_ids": [],
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
