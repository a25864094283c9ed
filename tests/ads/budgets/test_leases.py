"""No budget is overspent: what leases take and return, and what a changed total does."""

from typing import Any

import pytest
from pymongo.client_session import ClientSession

from chalicelib.ads.budgets import exhaustion, leases
from chalicelib.ads.budgets.leases import LeaseKey
from chalicelib.ads.errors import BudgetCommitted
from chalicelib.ads.inventory import campaigns, placing
from chalicelib.ads.inventory.campaigns import StoredCampaign
from chalicelib.database import Document
from chalicelib.errors import ChangeTooLarge
from chalicelib.runtime import Runtime
from tests.ads.campaigns.test_atomicity import in_threads
from tests.ads.support.factories import activate, advertiser, campaign_body, put_campaign
from tests.ads.support.movements import (
    GRACE,
    PRICE,
    SPRING,
    TERMS,
    acquire,
    end,
    funded,
    live,
    money,
    refresh,
    settle,
    status,
)
from tests.support.clock import Clock
from tests.support.http_client import Client


def test_activation_releases_the_whole_of_a_budget_without_days(runtime: Runtime) -> None:
    funded(runtime, 500)

    assert money(runtime) == {"released": 500, "available": 500, "leased": 0, "spent": 0}


def test_a_lease_takes_its_money_out_of_what_is_available(runtime: Runtime) -> None:
    funded(runtime, 500)

    lease = acquire(runtime)

    assert lease
    assert lease["expires_at"] == runtime.now() + TERMS.duration
    assert money(runtime) == {"released": 500, "available": 450, "leased": 50, "spent": 0}


@pytest.mark.parametrize(("impressions", "leased"), [(0, 0), (1, 1), (49, 49), (50, 50), (51, 50)])
def test_a_lease_holds_whole_impressions_as_far_as_the_money_goes(
    runtime: Runtime, impressions: int, leased: int
) -> None:
    funded(runtime, 1, total_micros=impressions * PRICE + PRICE - 1)

    lease = acquire(runtime)

    assert (lease["amount_micros"] // PRICE if lease else 0) == leased


def test_settling_moves_money_from_leased_to_spent(runtime: Runtime) -> None:
    funded(runtime, 500)
    lease = acquire(runtime)
    assert lease

    assert settle(runtime, lease, 3) == [True, True, True]

    assert money(runtime) == {"released": 500, "available": 450, "leased": 47, "spent": 3}


def test_a_lease_pays_for_no_more_than_it_holds(runtime: Runtime) -> None:
    funded(runtime, 2)
    lease = acquire(runtime)
    assert lease

    assert settle(runtime, lease, 3) == [True, True, False]
    assert settle(runtime, lease, 1) == [False]
    assert money(runtime) == {"released": 2, "available": 0, "leased": 0, "spent": 2}


def test_ending_a_lease_returns_what_it_did_not_spend(runtime: Runtime) -> None:
    funded(runtime, 500)
    lease = acquire(runtime)
    assert lease
    settle(runtime, lease, 3)

    assert [end(runtime, lease), end(runtime, lease)] == [True, False]

    assert money(runtime) == {"released": 500, "available": 497, "leased": 0, "spent": 3}
    assert settle(runtime, lease, 1) == [False]


def test_a_lease_is_ended_once_it_expired_and_its_beacons_had_their_grace(
    runtime: Runtime, clock: Clock
) -> None:
    funded(runtime, 50)
    assert acquire(runtime)
    clock.advance(minutes=1, seconds=GRACE.total_seconds() - 1)
    assert leases.end_expired(runtime.database, GRACE, runtime.now()) == 0
    clock.advance(seconds=1)

    assert leases.end_expired(runtime.database, GRACE, runtime.now()) == 1
    assert leases.end_expired(runtime.database, GRACE, runtime.now()) == 0

    assert money(runtime)["available"] == 50


def test_runs_of_the_schedule_at_once_end_a_lease_once(runtime: Runtime, clock: Clock) -> None:
    funded(runtime, 500)
    for _ in range(10):
        acquire(runtime)
    clock.advance(minutes=21)

    ended = in_threads(lambda _: leases.end_expired(runtime.database, GRACE, clock()), 4)

    assert sum(ended) == 10
    assert money(runtime) == {"released": 500, "available": 500, "leased": 0, "spent": 0}


@pytest.mark.timeout(30)
def test_a_campaign_that_another_holds_does_not_keep_the_schedule_from_the_others(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "END_TIMEOUT_SECONDS", 1.0)
    monkeypatch.setattr(exhaustion, "REFRESH_TIMEOUT_SECONDS", 0.3)
    funded(runtime, 500, daily_micros=240 * PRICE)
    live(runtime, clock, hours=1)
    assert acquire(runtime)
    put_campaign(runtime, "bmw:summer", budget={"total_micros": 50_000, "daily_micros": 50_000})
    activate(runtime, "bmw:summer")
    clock.advance(hours=1)
    database = runtime.database
    with database.client.start_session() as session, session.start_transaction():
        held: Document = {"$set": {"caps": []}}
        database[campaigns.CAMPAIGNS.name].update_one({"_id": SPRING}, held, session=session)

        assert leases.end_expired(database, GRACE, clock()) == 0
        assert refresh(runtime) == 2

        session.abort_transaction()
    assert refresh(runtime) == 1
    assert leases.end_expired(database, GRACE, clock()) == 1
    assert money(runtime)["leased"] == 0


@pytest.mark.timeout(30)
def test_the_leases_of_a_campaign_that_another_holds_wait_for_it_once(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "END_TIMEOUT_SECONDS", 0.5)
    funded(runtime, 500)
    for _ in range(5):
        assert acquire(runtime)
    put_campaign(runtime, "bmw:summer")
    activate(runtime, "bmw:summer")
    database, end_one = runtime.database, leases.end
    assert leases.acquire(database, "bmw:summer", TERMS, clock(), runtime.random)
    clock.advance(hours=1)
    tried: list[str] = []

    def end_and_note(database: Any, key: LeaseKey, *times: Any) -> bool:
        tried.append(key.campaign_id)
        return end_one(database, key, *times)

    monkeypatch.setattr(leases, "end", end_and_note)
    with database.client.start_session() as session, session.start_transaction():
        held: Document = {"$set": {"caps": []}}
        database[campaigns.CAMPAIGNS.name].update_one({"_id": SPRING}, held, session=session)

        assert leases.end_expired(database, GRACE, clock()) == 1

        session.abort_transaction()
    assert sorted(tried) == ["bmw:summer", SPRING]
    assert leases.end_expired(database, GRACE, clock()) == 5


def test_a_campaign_too_large_for_its_zones_does_not_keep_the_schedule_from_the_others(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    funded(runtime, 500)
    put_campaign(runtime, "audi:huge")
    activate(runtime, "audi:huge")
    runtime.database[campaigns.CAMPAIGNS.name].update_many({}, {"$set": {"status": "exhausted"}})
    place = placing.place

    def too_large(database: Any, session: ClientSession, campaign: StoredCampaign) -> None:
        if campaign["_id"] == "audi:huge":
            raise ChangeTooLarge
        place(database, session, campaign)

    monkeypatch.setattr(placing, "place", too_large)

    refresh(runtime)

    assert status(runtime) == "active"
    assert campaigns.get(runtime.database, "audi:huge")["status"] == "exhausted"


@pytest.mark.parametrize("state", ["paused", "exhausted", "draft"])
def test_a_campaign_that_is_not_active_leases_nothing(runtime: Runtime, state: str) -> None:
    funded(runtime, 500)
    runtime.database[campaigns.CAMPAIGNS.name].update_one({}, {"$set": {"status": state}})

    assert acquire(runtime) is None


def test_an_unknown_campaign_leases_nothing(runtime: Runtime) -> None:
    assert acquire(runtime) is None


def test_a_lowered_budget_takes_back_what_is_available(runtime: Runtime) -> None:
    funded(runtime, 500)
    lease = acquire(runtime)
    assert lease

    put_campaign(runtime, SPRING, budget={"total_micros": 50 * PRICE})

    assert money(runtime) == {"released": 50, "available": 0, "leased": 50, "spent": 0}


def test_a_budget_below_what_is_spent_or_leased_is_refused(
    runtime: Runtime, client: Client
) -> None:
    funded(runtime, 500)
    assert acquire(runtime)
    body = campaign_body(budget={"total_micros": 50 * PRICE - 1})

    with pytest.raises(BudgetCommitted):
        put_campaign(runtime, SPRING, budget=body["budget"])

    reply = advertiser(client).put(f"/campaigns/{SPRING}", **body)
    assert (reply.status, reply.code) == (409, "budget_committed")
    assert money(runtime) == {"released": 500, "available": 450, "leased": 50, "spent": 0}


def test_an_advertiser_sees_what_is_left_of_a_budget(runtime: Runtime, client: Client) -> None:
    funded(runtime, 500)
    lease = acquire(runtime)
    assert lease
    settle(runtime, lease, 3)

    assert advertiser(client).get(f"/campaigns/{SPRING}/budget").json == {
        "campaign_id": SPRING,
        "total_micros": 500 * PRICE,
        "released_micros": 500 * PRICE,
        "available_micros": 450 * PRICE,
        "leased_micros": 47 * PRICE,
        "spent_micros": 3 * PRICE,
    }
    assert advertiser(client, "bmw").get(f"/campaigns/{SPRING}/budget").code == "forbidden"
    assert advertiser(client).get("/campaigns/mercedes:none/budget").code == "unknown_campaign"
