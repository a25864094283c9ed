"""A campaign's maker hears once of each end of its money, and of the end of its flight."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.ads import jobs
from chalicelib.ads.campaigns import lifecycle, notifications, removal
from chalicelib.ads.inventory.campaigns import CAMPAIGNS, MAX_NOTES, StoredCampaign
from chalicelib.identity import Principal
from chalicelib.notifications import events
from chalicelib.notifications.rows import ITEMS, NotificationItem
from chalicelib.people import jobs as people_jobs
from chalicelib.people.jobs import EraseLate
from chalicelib.runtime import Runtime
from chalicelib.wiring.people import PEOPLE
from tests.ads.billing.support.funds import credit, pay_in
from tests.ads.support.factories import (
    activate,
    add_zones,
    advertiser,
    campaign,
    campaign_body,
)
from tests.ads.support.movements import PRICE, SPRING, charge, refresh, status
from tests.shop.support.knife import Cut, Edge, cut
from tests.shop.support.threads import in_threads
from tests.support.clock import Clock
from tests.support.http_client import Client

CPC = {"type": "cpc", "bid_micros": PRICE}
FLIGHT_END = datetime(2026, 4, 1, tzinfo=UTC)


def budgeted(clicks: int, **budget: Any) -> dict[str, Any]:
    """The changes of a campaign whose budget pays so many clicks."""
    total = {"total_micros": clicks * PRICE, "pacing": "asap"}
    return {"pricing": CPC, "budget": {**total, **budget}}


def put(runtime: Runtime, clicks: int, by: str = "ann", **budget: Any) -> None:
    wanted = campaign(**budgeted(clicks, **budget))
    lifecycle.put(runtime, SPRING, wanted, by=by)


def running(runtime: Runtime, clicks: int, **budget: Any) -> None:
    add_zones(runtime, "blog/banner")
    put(runtime, clicks, **budget)
    activate(runtime, SPRING)
    assert status(runtime) == "active"


def spend(runtime: Runtime, clicks: int) -> None:
    assert charge(runtime, *[PRICE] * clicks) == [True] * clicks
    refresh(runtime)


def live_on(runtime: Runtime, clock: Clock) -> None:
    """Let two minutes pass, each with its schedules."""
    for _ in range(2):
        clock.advance(minutes=1)
        jobs.end_flights(runtime)
        jobs.run_minute(runtime)


def items(runtime: Runtime) -> list[NotificationItem]:
    return list(ITEMS.of(runtime.database).find())


def kinds(runtime: Runtime) -> list[str]:
    return [each["kind"] for each in items(runtime)]


def stored(runtime: Runtime) -> StoredCampaign:
    found = CAMPAIGNS.of(runtime.database).find_one({"_id": SPRING})
    assert found is not None
    return found


def inbox(client: Client, who: str = "ann") -> list[dict[str, Any]]:
    found = client.as_(who).get("/notifications").json["notifications"]
    assert isinstance(found, list)
    return found


def test_the_person_who_made_a_campaign_hears_once_that_its_budget_is_spent(
    runtime: Runtime, client: Client, clock: Clock
) -> None:
    add_zones(runtime, "blog/banner")
    body = campaign_body(**budgeted(2))
    assert advertiser(client).put(f"/campaigns/{SPRING}", **body).status == 201
    # A colleague changes it.
    colleague = client.as_("bob", roles=["advertiser"], advertiser="mercedes")
    assert colleague.put(f"/campaigns/{SPRING}", **body).status == 200
    activate(runtime, SPRING)
    live_on(runtime, clock)
    assert items(runtime) == []

    spend(runtime, 2)
    live_on(runtime, clock)

    (shown,) = inbox(client)
    assert (shown["kind"], shown["by"], shown["count"]) == ("campaign.exhausted", None, 0)
    assert shown["page"] == {"id": SPRING, "title": SPRING, "url": ""}
    assert stored(runtime)["notes"] == []


def test_a_campaign_that_runs_out_again_tells_again(
    runtime: Runtime, client: Client, clock: Clock
) -> None:
    running(runtime, 1)
    spend(runtime, 1)
    live_on(runtime, clock)

    put(runtime, 2)
    live_on(runtime, clock)
    # It goes on.
    assert inbox(client) == []
    spend(runtime, 1)
    live_on(runtime, clock)
    assert len(items(runtime)) == 2
    assert len(inbox(client)) == 1

    clock.advance(days=1)
    put(runtime, 3)
    spend(runtime, 1)
    live_on(runtime, clock)
    assert len(inbox(client)) == 2


def test_the_end_of_a_day_s_money_is_no_news(runtime: Runtime, clock: Clock) -> None:
    running(runtime, 4, daily_micros=2 * PRICE)
    spend(runtime, 2)
    assert status(runtime) == "exhausted"
    live_on(runtime, clock)
    assert items(runtime) == []

    clock.advance(days=1)
    refresh(runtime)
    spend(runtime, 2)
    live_on(runtime, clock)

    assert kinds(runtime) == ["campaign.exhausted"]


def test_an_advertiser_without_funds_is_named_as_the_reason(
    runtime: Runtime, client: Client, clock: Clock
) -> None:
    pay_in(runtime, 2 * PRICE)
    credit(runtime)
    running(runtime, 10)
    spend(runtime, 2)
    live_on(runtime, clock)
    assert [each["kind"] for each in inbox(client)] == ["campaign.unfunded"]

    pay_in(runtime, PRICE, "2")
    live_on(runtime, clock)
    assert (status(runtime), inbox(client)) == ("active", [])
    spend(runtime, 1)
    live_on(runtime, clock)

    assert kinds(runtime) == ["campaign.unfunded"] * 2


def test_a_campaign_that_waited_for_a_day_and_lacks_funds_then_tells(
    runtime: Runtime, clock: Clock
) -> None:
    pay_in(runtime, 2 * PRICE)
    credit(runtime)
    running(runtime, 10, daily_micros=2 * PRICE)
    spend(runtime, 2)
    live_on(runtime, clock)
    assert items(runtime) == []

    clock.advance(days=1)
    live_on(runtime, clock)

    assert kinds(runtime) == ["campaign.unfunded"]


def test_a_rest_below_the_price_of_a_click_is_an_end(runtime: Runtime, clock: Clock) -> None:
    running(runtime, 2, daily_micros=PRICE + 1, total_micros=2 * PRICE - 1)
    spend(runtime, 1)
    live_on(runtime, clock)
    assert items(runtime) == []

    clock.advance(days=1)
    live_on(runtime, clock)

    assert (status(runtime), kinds(runtime)) == ("exhausted", ["campaign.exhausted"])


def test_an_activation_says_so_itself_and_tells_nobody(runtime: Runtime, clock: Clock) -> None:
    running(runtime, 1)
    spend(runtime, 1)
    live_on(runtime, clock)
    assert len(items(runtime)) == 1

    activate(runtime, SPRING)
    live_on(runtime, clock)
    lifecycle.deactivate(runtime.database, SPRING)
    activate(runtime, SPRING)
    live_on(runtime, clock)

    assert (status(runtime), len(items(runtime))) == ("exhausted", 1)


def test_an_exhausted_campaign_that_changes_tells_no_more(runtime: Runtime, clock: Clock) -> None:
    running(runtime, 2)
    spend(runtime, 2)
    live_on(runtime, clock)

    put(runtime, 2)
    clock.advance(days=1)
    live_on(runtime, clock)

    assert (status(runtime), len(items(runtime))) == ("exhausted", 1)


@pytest.mark.parametrize("spent", [0, 1])
def test_the_end_of_a_flight_is_told_once(
    runtime: Runtime, client: Client, clock: Clock, spent: int
) -> None:
    running(runtime, 1)
    spend(runtime, spent)
    clock.time = FLIGHT_END - timedelta(milliseconds=1)
    jobs.end_flights(runtime)
    jobs.run_minute(runtime)
    assert len(items(runtime)) == spent

    clock.time = FLIGHT_END
    live_on(runtime, clock)

    # The end of its money is no news any more.
    assert [each["kind"] for each in inbox(client)] == ["campaign.ended"]


def test_a_person_who_ends_a_flight_or_pauses_a_campaign_hears_nothing(
    runtime: Runtime, clock: Clock
) -> None:
    running(runtime, 1)
    over = campaign(
        **budgeted(1),
        flight={"starts_at": "2026-02-01T00:00:00Z", "ends_at": "2026-02-02T00:00:00Z"},
    )
    lifecycle.put(runtime, SPRING, over, by="ann")
    assert status(runtime) == "ended"
    live_on(runtime, clock)
    put(runtime, 1)
    lifecycle.deactivate(runtime.database, SPRING)
    live_on(runtime, clock)

    assert items(runtime) == []


def test_a_campaign_is_shown_to_its_maker_alone(runtime: Runtime, clock: Clock) -> None:
    running(runtime, 1)
    spend(runtime, 1)
    live_on(runtime, clock)

    for who, role in (("bob", "advertiser"), ("admin", "admin")):
        reader = Principal(who, "", frozenset({role}), advertiser="mercedes")
        assert notifications.show(runtime, reader, items(runtime)) == {}
    ann = Principal("ann", "")
    assert len(notifications.show(runtime, ann, items(runtime))) == 1

    removal.delete(runtime.database, SPRING, runtime.now())

    assert notifications.show(runtime, ann, items(runtime)) == {}
    assert not {"by", "made", "notes"} & stored(runtime).keys()


def test_a_campaign_of_an_earlier_release_has_no_maker_and_tells_nobody(
    runtime: Runtime, clock: Clock
) -> None:
    running(runtime, 1)
    gone = {"$unset": {"by": "", "made": "", "notes": ""}}
    CAMPAIGNS.of(runtime.database).update_one({"_id": SPRING}, gone)
    spend(runtime, 1)
    # Who changes it has not made it.
    put(runtime, 1, by="bob")
    live_on(runtime, clock)

    assert (items(runtime), stored(runtime)["notes"]) == ([], [])
    assert "by" not in stored(runtime)


def test_a_campaign_keeps_its_newest_notes_while_no_schedule_runs(
    runtime: Runtime, clock: Clock
) -> None:
    running(runtime, 1)
    for clicks in range(1, MAX_NOTES + 3):
        spend(runtime, 1)
        clock.advance(seconds=1)
        put(runtime, clicks + 1)

    times = [each["at"] for each in stored(runtime)["notes"]]
    assert len(times) == MAX_NOTES
    assert times == sorted(times)
    assert times[-1] == clock() - timedelta(seconds=1)


@pytest.mark.parametrize("edge", ["before", "after"])
def test_a_schedule_that_dies_at_any_write_tells_once(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch, edge: Edge
) -> None:
    running(runtime, 1)
    spend(runtime, 1)
    for at in range(6):
        clock.advance(minutes=1)
        with suppress(Cut), cut(monkeypatch, at, edge) as knife:
            notifications.notify_due(runtime)
        if knife.writes <= at:
            break
    else:
        pytest.fail("the schedule never ended")

    assert len(items(runtime)) == 1


@pytest.mark.parametrize("edge", ["before", "after"])
def test_a_change_of_status_that_dies_at_its_commit_is_told_once(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch, edge: Edge
) -> None:
    running(runtime, 1)
    assert charge(runtime, PRICE) == [True]
    with pytest.raises(Cut), cut(monkeypatch, 0, edge):
        refresh(runtime)
    live_on(runtime, clock)
    live_on(runtime, clock)

    assert kinds(runtime) == ["campaign.exhausted"]


def test_schedules_at_once_tell_once(runtime: Runtime) -> None:
    running(runtime, 1)
    spend(runtime, 1)

    in_threads(lambda _: notifications.notify_due(runtime), 8)

    assert (len(items(runtime)), stored(runtime)["notes"]) == (1, [])


def test_a_note_that_comes_while_others_are_told_waits_for_the_next_run(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    running(runtime, 1)
    spend(runtime, 1)
    agree = events.agree

    def ended_first(*given: Any) -> None:
        monkeypatch.undo()
        lifecycle.end_flights(runtime)
        agree(*given)

    clock.time = FLIGHT_END
    monkeypatch.setattr(events, "agree", ended_first)
    notifications.notify_due(runtime)
    assert kinds(runtime) == ["campaign.exhausted"]
    notifications.notify_due(runtime)

    assert kinds(runtime) == ["campaign.exhausted", "campaign.ended"]


def test_an_erased_maker_leaves_the_campaign_and_no_item(
    runtime: Runtime, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    running(runtime, 1)
    spend(runtime, 1)
    agree, ends = events.agree, []

    def erased_first(*given: Any) -> None:
        clock.advance(seconds=1)
        people_jobs.erase(runtime, PEOPLE, "ann")
        ends.append(runtime.now())
        clock.advance(seconds=1)
        agree(*given)

    monkeypatch.setattr(events, "agree", erased_first)
    notifications.notify_due(runtime)
    assert len(items(runtime)) == 1
    people_jobs.run(runtime, PEOPLE, EraseLate(user_id="ann", until=ends[0]))

    assert items(runtime) == []
    assert (stored(runtime)["by"], status(runtime)) == (None, "exhausted")


def test_a_late_erasure_leaves_campaigns_of_after_it(runtime: Runtime, clock: Clock) -> None:
    before = runtime.now()
    clock.advance(seconds=1)
    running(runtime, 1)

    people_jobs.erase_late(runtime, PEOPLE, "ann", before)
    assert stored(runtime)["by"] == "ann"

    people_jobs.erase(runtime, PEOPLE, "ann")
    assert stored(runtime)["by"] is None
