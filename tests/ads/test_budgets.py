"""No budget is overspent, by whatever number of hands, clocks and crashes."""

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pymongo.client_session import ClientSession

from chalicelib.ads import balances, budgets, campaigns, leases, ledger, zones
from chalicelib.ads.leases import LeaseKey, Terms
from chalicelib.database import Document, in_transaction
from chalicelib.errors import BudgetCommitted, ChangeTooLarge
from chalicelib.runtime import Runtime
from tests.ads.inventory import activate, add_zones, advertiser, campaign_body, placed, put_campaign
from tests.ads.test_atomicity import in_threads
from tests.conftest import START, Clock
from tests.http_client import Client

SPRING = "mercedes:spring"
# The inventory's campaigns bid 250,000 micros CPM.
PRICE = 250
TERMS = Terms(impressions=50, duration=timedelta(minutes=1))
GRACE = timedelta(minutes=20)


class Crash(Exception):
    """The process dies here."""


def funded(runtime: Runtime, impressions: int, **budget: Any) -> None:
    """An active campaign whose total pays so many impressions."""
    add_zones(runtime, "blog/banner")
    total = {"total_micros": impressions * PRICE, **budget}
    put_campaign(runtime, SPRING, budget=total)
    activate(runtime, SPRING)


def acquire(runtime: Runtime, impressions: int = 50) -> Document | None:
    terms = Terms(impressions, TERMS.duration)
    return leases.acquire(runtime.database, SPRING, terms, runtime.now(), runtime.random)


def settle(runtime: Runtime, lease: Document, count: int) -> list[bool]:
    def work(session: ClientSession) -> list[bool]:
        key = LeaseKey(SPRING, lease["_id"])
        prices = [PRICE] * count
        return leases.settle(runtime.database, session, key, prices, runtime.now())

    return in_transaction(runtime.database, work)


def charge(runtime: Runtime, *prices: int) -> list[bool]:
    def work(session: ClientSession) -> list[bool]:
        return budgets.charge_clicks(runtime.database, session, SPRING, prices, runtime.now())

    return in_transaction(runtime.database, work)


def end(runtime: Runtime, lease: Document) -> bool:
    return leases.end(runtime.database, LeaseKey(SPRING, lease["_id"]), runtime.now())


def refresh(runtime: Runtime) -> int:
    return budgets.refresh_all(runtime.database, runtime.now())


def money(runtime: Runtime) -> dict[str, int]:
    """The balances in impressions, once the invariant and the ledger are checked."""
    balance = budgets.read(runtime.database, SPRING)
    total = balance.pop("total_micros")
    assert set(budgets.audit(runtime.database, SPRING).values()) == {0}
    parts = ("spent_micros", "leased_micros", "available_micros")
    assert sum(balance[name] for name in parts) == balance["released_micros"] <= total
    assert min(balance.values()) >= 0
    return {name.removesuffix("_micros"): amount // PRICE for name, amount in balance.items()}


def status(runtime: Runtime) -> str:
    return str(campaigns.get(runtime.database, SPRING)["status"])


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
    monkeypatch.setattr(leases, "END_TIMEOUT_SECONDS", 0.3)
    monkeypatch.setattr(budgets, "REFRESH_TIMEOUT_SECONDS", 0.3)
    funded(runtime, 500, daily_micros=240 * PRICE)
    assert acquire(runtime)
    put_campaign(runtime, "bmw:summer", budget={"total_micros": 500, "daily_micros": 500})
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


def test_a_campaign_too_large_for_its_zones_does_not_keep_the_schedule_from_the_others(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    funded(runtime, 500)
    put_campaign(runtime, "audi:huge")
    activate(runtime, "audi:huge")
    runtime.database[campaigns.CAMPAIGNS.name].update_many({}, {"$set": {"status": "exhausted"}})
    place = zones.place

    def too_large(database: Any, session: ClientSession, campaign: Document) -> None:
        if campaign["_id"] == "audi:huge":
            raise ChangeTooLarge
        place(database, session, campaign)

    monkeypatch.setattr(zones, "place", too_large)

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


def test_a_campaign_is_exhausted_when_all_is_spent_and_no_lease_is_open(runtime: Runtime) -> None:
    funded(runtime, 50)
    lease = acquire(runtime)
    assert lease
    settle(runtime, lease, 50)
    refresh(runtime)
    assert status(runtime) == "active"

    end(runtime, lease)
    refresh(runtime)

    assert (status(runtime), placed(runtime, "blog/banner")) == ("exhausted", [])


def test_money_that_a_lease_returns_keeps_a_campaign_active(runtime: Runtime) -> None:
    funded(runtime, 50)
    lease = acquire(runtime)
    assert lease
    settle(runtime, lease, 49)
    end(runtime, lease)

    refresh(runtime)

    assert (status(runtime), placed(runtime, "blog/banner")) == ("active", [SPRING])


@pytest.fixture
def exhausted(runtime: Runtime) -> Runtime:
    """A campaign that has spent its 50 impressions."""
    funded(runtime, 50)
    lease = acquire(runtime)
    assert lease
    settle(runtime, lease, 50)
    end(runtime, lease)
    refresh(runtime)
    return runtime


def test_a_raised_budget_brings_an_exhausted_campaign_back(exhausted: Runtime) -> None:
    put_campaign(exhausted, SPRING, budget={"total_micros": 51 * PRICE})

    assert (status(exhausted), placed(exhausted, "blog/banner")) == ("active", [SPRING])
    assert money(exhausted) == {"released": 51, "available": 1, "leased": 0, "spent": 50}


def test_a_budget_raised_by_less_than_an_impression_does_not(exhausted: Runtime) -> None:
    put_campaign(exhausted, SPRING, budget={"total_micros": 51 * PRICE - 1})

    assert (status(exhausted), placed(exhausted, "blog/banner")) == ("exhausted", [])


def test_an_exhausted_campaign_can_be_paused_and_activated_with_a_new_budget(
    exhausted: Runtime,
) -> None:
    campaigns.deactivate(exhausted.database, SPRING)
    put_campaign(exhausted, SPRING, budget={"total_micros": 60 * PRICE})
    assert (status(exhausted), placed(exhausted, "blog/banner")) == ("paused", [])

    activate(exhausted, SPRING)

    assert (status(exhausted), placed(exhausted, "blog/banner")) == ("active", [SPRING])


def test_a_campaign_whose_budget_pays_no_event_is_exhausted_at_its_activation(
    runtime: Runtime,
) -> None:
    funded(runtime, 1, total_micros=PRICE - 1)

    assert (status(runtime), placed(runtime, "blog/banner")) == ("exhausted", [])


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


def cpc(runtime: Runtime, clicks: int, **budget: Any) -> None:
    add_zones(runtime, "blog/banner")
    pricing = {"type": "cpc", "bid_micros": PRICE}
    total = {"total_micros": clicks * PRICE, **budget}
    put_campaign(runtime, SPRING, budget=total, pricing=pricing)
    activate(runtime, SPRING)


def test_a_click_is_charged_to_what_is_available(runtime: Runtime) -> None:
    cpc(runtime, 3)

    assert charge(runtime, PRICE, PRICE) == [True, True]

    assert money(runtime) == {"released": 3, "available": 1, "leased": 0, "spent": 2}


def test_a_click_that_nothing_is_left_for_is_not_billed(runtime: Runtime) -> None:
    cpc(runtime, 3)

    assert charge(runtime, *[PRICE] * 5) == [True, True, True, False, False]
    refresh(runtime)

    assert money(runtime)["spent"] == 3
    assert (status(runtime), placed(runtime, "blog/banner")) == ("exhausted", [])


def test_a_cpc_campaign_leases_nothing(runtime: Runtime) -> None:
    cpc(runtime, 3)

    assert acquire(runtime) is None


def test_a_cpc_campaign_out_of_today_s_money_comes_back_tomorrow(
    runtime: Runtime, clock: Clock
) -> None:
    cpc(runtime, 10, daily_micros=2 * PRICE, pacing="asap")
    charge(runtime, PRICE, PRICE)
    refresh(runtime)
    assert status(runtime) == "exhausted"
    clock.advance(hours=12)

    refresh(runtime)

    assert (status(runtime), placed(runtime, "blog/banner")) == ("active", [SPRING])
    assert money(runtime) == {"released": 4, "available": 2, "leased": 0, "spent": 2}


def test_the_release_follows_the_day_and_may_miss_runs_or_run_twice(
    runtime: Runtime, clock: Clock
) -> None:
    funded(runtime, 1_000, daily_micros=240 * PRICE)
    assert money(runtime)["released"] == 120
    clock.advance(hours=1)
    assert (refresh(runtime), refresh(runtime)) == (1, 0)
    assert money(runtime)["released"] == 130

    clock.advance(hours=5)
    in_threads(lambda _: refresh(runtime), 4)

    assert money(runtime)["released"] == 180


def test_a_lease_is_given_of_what_is_due_even_where_the_schedule_never_ran(
    runtime: Runtime, clock: Clock
) -> None:
    funded(runtime, 1_000, daily_micros=240 * PRICE)
    assert acquire(runtime, 120)
    assert acquire(runtime) is None
    clock.advance(hours=1)

    lease = acquire(runtime)

    assert lease
    assert lease["amount_micros"] == 10 * PRICE


def test_what_a_day_did_not_spend_is_taken_back_at_its_end(runtime: Runtime, clock: Clock) -> None:
    funded(runtime, 1_000, daily_micros=240 * PRICE)
    lease = acquire(runtime, 100)
    assert lease
    settle(runtime, lease, 40)
    end(runtime, lease)
    clock.advance(hours=12)

    refresh(runtime)

    assert money(runtime) == {"released": 40, "available": 0, "leased": 0, "spent": 40}
    clock.advance(hours=12)
    refresh(runtime)
    assert money(runtime) == {"released": 160, "available": 120, "leased": 0, "spent": 40}


def test_a_lease_of_yesterday_adds_nothing_to_today_s_money(runtime: Runtime, clock: Clock) -> None:
    funded(runtime, 1_000, daily_micros=240 * PRICE, pacing="asap")
    lease = acquire(runtime, 100)
    assert lease
    clock.advance(hours=13)
    refresh(runtime)
    assert money(runtime) == {"released": 340, "available": 240, "leased": 100, "spent": 0}

    end(runtime, lease)
    refresh(runtime)

    assert money(runtime) == {"released": 240, "available": 240, "leased": 0, "spent": 0}


def test_a_lease_ends_with_its_day(runtime: Runtime, clock: Clock) -> None:
    funded(runtime, 1_000, daily_micros=240 * PRICE)
    clock.advance(hours=11, minutes=59, seconds=30)

    lease = acquire(runtime)

    assert lease
    assert lease["expires_at"] == datetime(2026, 3, 2, tzinfo=UTC)


def waiting(runtime: Runtime, **changes: Any) -> None:
    """An active campaign whose flight begins in ten days, with the changes that are then made."""
    add_zones(runtime, "blog/banner")
    budget = {"total_micros": 1_000 * PRICE, "pacing": "even"}
    put_campaign(runtime, SPRING, budget=budget, flight=flight(10, 20))
    activate(runtime, SPRING)
    put_campaign(runtime, SPRING, **{"budget": budget, **changes})


def flight(start_days: int, end_days: int) -> dict[str, datetime]:
    return {"start": START + timedelta(start_days), "end": START + timedelta(end_days)}


def test_a_flight_that_is_brought_forward_is_paced_from_its_new_start(
    runtime: Runtime, clock: Clock
) -> None:
    waiting(runtime, flight=flight(0, 20))
    assert money(runtime)["released"] == 0
    clock.advance(days=5)

    refresh(runtime)

    assert money(runtime)["released"] == 250


def test_a_campaign_that_got_a_daily_budget_before_its_flight_has_it_every_day(
    runtime: Runtime, clock: Clock
) -> None:
    daily = {"total_micros": 1_000 * PRICE, "daily_micros": 10 * PRICE, "pacing": "asap"}
    waiting(runtime, flight=flight(0, 20), budget=daily)

    for day in range(1, 4):
        lease = acquire(runtime)
        assert lease
        settle(runtime, lease, 10)
        assert money(runtime)["released"] == 10 * day
        clock.advance(days=1)


def test_a_flight_that_is_put_off_keeps_its_pace(runtime: Runtime, clock: Clock) -> None:
    waiting(runtime, flight=flight(15, 25))
    clock.advance(days=10)
    refresh(runtime)
    assert money(runtime)["released"] == 0
    clock.advance(days=10)

    refresh(runtime)

    assert money(runtime)["released"] == 500


def test_a_clock_that_is_behind_does_not_bring_yesterday_s_money_back(
    runtime: Runtime, clock: Clock
) -> None:
    funded(runtime, 1_000, daily_micros=240 * PRICE)
    clock.advance(hours=12, seconds=1)
    refresh(runtime)
    clock.advance(seconds=-2)

    refresh(runtime)

    assert money(runtime)["released"] == 0


DIES_AFTER = [
    ("acquire", (balances, "bring_up_to_date")),
    ("acquire", (ledger, "record")),
    ("acquire", (balances, "move")),
    ("settle", (ledger, "record")),
    ("end", (leases, "_fold_in")),
    ("end", (balances, "move")),
    ("charge_clicks", (balances, "move")),
    ("refresh", (balances, "bring_up_to_date")),
]


@pytest.mark.parametrize(
    ("operation", "dies_after"),
    DIES_AFTER,
    ids=[f"{name}-{step}" for name, (_, step) in DIES_AFTER],
)
def test_a_crash_inside_any_movement_leaves_nothing_of_it(
    runtime: Runtime,
    monkeypatch: pytest.MonkeyPatch,
    operation: str,
    dies_after: tuple[Any, str],
) -> None:
    module, step = dies_after
    funded(runtime, 1_000, daily_micros=240 * PRICE)
    lease = acquire(runtime)
    assert lease
    later = replace(runtime, now=lambda: START + timedelta(hours=1))
    before = money(runtime)
    does: dict[str, Callable[[], Any]] = {
        "acquire": lambda: acquire(later),
        "settle": lambda: settle(later, lease, 1),
        "end": lambda: end(later, lease),
        "charge_clicks": lambda: charge(later, PRICE),
        "refresh": lambda: refresh(later),
    }
    real = getattr(module, step)

    def dies(*arguments: Any, **details: Any) -> None:
        real(*arguments, **details)
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(module, step, dies)
        with pytest.raises(Crash):
            does[operation]()

    assert money(runtime) == before
    does[operation]()
    assert money(runtime) != before


def test_the_balances_hold_while_many_hands_move_money_at_once(
    runtime: Runtime, clock: Clock
) -> None:
    funded(runtime, 300, daily_micros=200 * PRICE)
    samples = []

    def work(number: int) -> None:
        rng = random.Random(number)
        held: list[Document] = []
        for _ in range(25):
            if number == 0:
                samples.append(money(runtime))
                refresh(runtime)
                clock.advance(minutes=rng.randint(1, 90))
                continue
            lease = leases.acquire(
                runtime.database, SPRING, Terms(7, TERMS.duration), runtime.now(), rng
            )
            held += [lease] if lease else []
            for each in held:
                settle(runtime, each, rng.randint(0, 3))
            if held and rng.random() < 0.5:
                end(runtime, held.pop(0))

    in_threads(work, 4)

    assert len(samples) == 25
    assert money(runtime)["spent"] > 0
