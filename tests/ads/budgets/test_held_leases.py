"""A decision draws on leases in memory, and shows what is paid for alone."""

from dataclasses import replace
from typing import Any

import pytest
from pymongo.errors import OperationFailure

from chalicelib.ads.budgets import audit, leases
from chalicelib.ads.budgets.held_leases import HeldLeases
from chalicelib.ads.budgets.leases import LEASES
from chalicelib.ads.inventory.campaigns import CAMPAIGNS
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from tests.ads.support.events import PRICE, SPRING, Page
from tests.ads.support.factories import activate, add_zones, cpm, put_campaign
from tests.support.clock import Clock
from tests.support.http_client import Client

SUMMER = "bmw:summer"


@pytest.fixture
def runtime(runtime: Runtime) -> Runtime:
    """A runtime with a campaign at work."""
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING, budget={"total_micros": 500 * PRICE})
    activate(runtime, SPRING)
    return runtime


@pytest.fixture
def page(client: Client) -> Page:
    return Page(client)


def test_a_campaign_without_money_gives_way_to_the_next(
    page: Page, runtime: Runtime, clock: Clock
) -> None:
    put_campaign(runtime, SUMMER, pricing=cpm(1_000_000), budget={"total_micros": 2_000})
    activate(runtime, SUMMER)
    clock.advance(seconds=2)

    served = [page.ad()["campaign_id"] for _ in range(4)]

    assert served == [SUMMER, SUMMER, SPRING, SPRING]


def test_a_zone_without_anyone_s_money_shows_nothing(page: Page, runtime: Runtime) -> None:
    put_campaign(runtime, SPRING, budget={"total_micros": PRICE})

    assert [bool(page.ad()) for _ in range(3)] == [True, False, False]


def test_drawing_takes_one_lease_for_many_impressions(runtime: Runtime) -> None:
    settings = runtime.settings.model_copy(update={"budget_lease_impressions": 50})
    held = HeldLeases(replace(runtime, settings=settings))

    drawn = [held.draw(SPRING, PRICE) for _ in range(101)]

    assert [drawn.count(lease_id) for lease_id in dict.fromkeys(drawn)] == [50, 50, 1]
    assert audit.read(runtime.database, SPRING)["leased_micros"] == 150 * PRICE


def test_a_lease_is_not_drawn_on_past_its_expiry(runtime: Runtime, clock: Clock) -> None:
    held = HeldLeases(runtime)
    first = held.draw(SPRING, PRICE)
    clock.advance(seconds=runtime.settings.budget_lease_seconds)

    assert held.draw(SPRING, PRICE) not in {first, None}


def test_a_refusal_is_remembered_for_a_second(runtime: Runtime, clock: Clock) -> None:
    held = HeldLeases(runtime)
    put_campaign(runtime, SUMMER)
    assert held.draw(SUMMER, PRICE) is None
    activate(runtime, SUMMER)
    assert held.draw(SUMMER, PRICE) is None
    clock.advance(seconds=1)

    assert held.draw(SUMMER, PRICE)


def test_a_draw_that_was_put_back_can_be_drawn_again(runtime: Runtime) -> None:
    put_campaign(runtime, SPRING, budget={"total_micros": PRICE})
    held = HeldLeases(runtime)
    lease_id = held.draw(SPRING, PRICE)
    assert lease_id

    held.put_back(SPRING, lease_id, PRICE)

    assert [held.draw(SPRING, PRICE), held.draw(SPRING, PRICE)] == [lease_id, None]


# A transaction alone would go on trying for 20 seconds.
@pytest.mark.timeout(10)
def test_a_decision_does_not_wait_for_a_campaign_that_another_holds(
    page: Page, runtime: Runtime
) -> None:
    put_campaign(runtime, SUMMER, pricing=cpm(1_000_000))
    activate(runtime, SUMMER)
    database = runtime.database
    with database.client.start_session() as session, session.start_transaction():
        held: Document = {"$set": {"caps": []}}
        database[CAMPAIGNS.name].update_one({"_id": SUMMER}, held, session=session)

        assert page.ad()["campaign_id"] == SPRING

        session.abort_transaction()


@pytest.mark.timeout(10)
def test_a_decision_does_not_wait_for_a_lease_that_another_holds(
    page: Page, runtime: Runtime, clock: Clock
) -> None:
    put_campaign(runtime, SUMMER, pricing=cpm(1_000_000), budget={"total_micros": 10_000})
    activate(runtime, SUMMER)
    assert {page.ad()["campaign_id"] for _ in range(10)} == {SUMMER}
    clock.advance(minutes=2)
    database = runtime.database
    with database.client.start_session() as session, session.start_transaction():
        held: Document = {"$inc": {"remaining_micros": -1_000}}
        database[LEASES.name].update_one({"campaign_id": SUMMER}, held, session=session)

        assert page.ad()["campaign_id"] == SPRING

        session.abort_transaction()
    clock.advance(seconds=1)
    assert page.ad()["campaign_id"] == SUMMER


def test_an_error_of_the_database_that_is_no_wait_is_no_lack_of_money(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any) -> None:
        raise OperationFailure("bad", 2)

    monkeypatch.setattr(leases, "acquire", fails)

    with pytest.raises(OperationFailure):
        HeldLeases(runtime).draw(SPRING, PRICE)


def test_a_draw_is_put_back_on_its_own_lease_alone(runtime: Runtime, clock: Clock) -> None:
    """A decision that is made again may take longer than the lease lives."""
    settings = runtime.settings.model_copy(update={"budget_lease_impressions": 2})
    held = HeldLeases(replace(runtime, settings=settings))
    old = held.draw(SPRING, PRICE)
    assert old
    clock.advance(seconds=settings.budget_lease_seconds)
    new = held.draw(SPRING, PRICE)

    held.put_back(SPRING, old, PRICE)

    assert held.draw(SPRING, PRICE) == new
    assert held.draw(SPRING, PRICE) not in {old, new}
