"""A campaign without money is exhausted, and active again when it has some."""

from datetime import datetime, timedelta
from random import Random

import pytest
from pymongo.database import Database

from chalicelib.ads.budgets import exhaustion
from chalicelib.ads.campaigns import lifecycle
from chalicelib.ads.inventory import campaigns
from chalicelib.ads.inventory.campaigns import CAMPAIGNS
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from tests.ads.support.factories import activate, placed, put_campaign
from tests.ads.support.movements import (
    PRICE,
    SPRING,
    acquire,
    end,
    funded,
    money,
    refresh,
    settle,
    status,
)
from tests.support.clock import Clock


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


def test_a_raised_budget_reactivates_an_exhausted_campaign(exhausted: Runtime) -> None:
    put_campaign(exhausted, SPRING, budget={"total_micros": 51 * PRICE})

    assert (status(exhausted), placed(exhausted, "blog/banner")) == ("active", [SPRING])
    assert money(exhausted) == {"released": 51, "available": 1, "leased": 0, "spent": 50}


def test_a_reactivated_campaign_is_returned_as_it_is_stored(exhausted: Runtime) -> None:
    returned = put_campaign(exhausted, SPRING, budget={"total_micros": 100 * PRICE})

    assert returned["status"] == "active"
    assert returned == campaigns.get(exhausted.database, SPRING)


@pytest.mark.parametrize(("milliseconds", "after"), [(-1, "active"), (0, "exhausted")])
def test_money_reactivates_no_campaign_whose_flight_is_over(
    exhausted: Runtime, clock: Clock, milliseconds: int, after: str
) -> None:
    campaigns_stored = exhausted.database[CAMPAIGNS.name]
    more = {"$set": {"budget.total_micros": 60 * PRICE}}
    stored = campaigns_stored.find_one_and_update({"_id": SPRING}, more)
    assert stored is not None
    clock.time = stored["flight"]["end"] + timedelta(milliseconds=milliseconds)

    refresh(exhausted)

    assert campaigns_stored.distinct("status", {"_id": SPRING}) == [after]


def test_a_budget_raised_by_less_than_an_impression_does_not(exhausted: Runtime) -> None:
    put_campaign(exhausted, SPRING, budget={"total_micros": 51 * PRICE - 1})

    assert (status(exhausted), placed(exhausted, "blog/banner")) == ("exhausted", [])


def test_an_exhausted_campaign_can_be_paused_and_activated_with_a_new_budget(
    exhausted: Runtime,
) -> None:
    lifecycle.deactivate(exhausted.database, SPRING)
    put_campaign(exhausted, SPRING, budget={"total_micros": 60 * PRICE})
    assert (status(exhausted), placed(exhausted, "blog/banner")) == ("paused", [])

    activate(exhausted, SPRING)

    assert (status(exhausted), placed(exhausted, "blog/banner")) == ("active", [SPRING])


def test_a_campaign_whose_budget_pays_no_event_is_exhausted_at_its_activation(
    runtime: Runtime,
) -> None:
    funded(runtime, 1, total_micros=PRICE - 1)

    assert (status(runtime), placed(runtime, "blog/banner")) == ("exhausted", [])


def test_no_campaign_without_money_is_always_before_another(
    exhausted: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaigns_stored = exhausted.database[CAMPAIGNS.name]
    more = {"$set": {"budget.total_micros": 60 * PRICE}}
    stored = campaigns_stored.find_one_and_update({"_id": SPRING}, more, return_document=True)
    assert stored is not None
    campaigns_stored.insert_many([{**stored, "_id": f"mercedes:{n}"} for n in range(5)])
    order: list[str] = []

    def note(database: Database[Document], campaign_id: str, now: datetime) -> None:
        del database, now
        order.append(campaign_id)

    monkeypatch.setattr(exhaustion, "refresh", note)
    for seed in range(50):
        exhaustion.refresh_all(exhausted.database, exhausted.now(), Random(seed))

    assert len({*order[::6]}) == 6
