"""Every event is counted and billed once, wherever the worker is stopped."""

import random
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from pydantic import ValidationError

from chalicelib import ads
from chalicelib.ads.billing import revenue_shares
from chalicelib.ads.budgets import audit, exhaustion, leases, ledger
from chalicelib.ads.budgets.leases import LeaseKey, Terms
from chalicelib.ads.inventory import campaigns
from chalicelib.ads.reports import counters
from chalicelib.ads.tracking import counting
from chalicelib.ads.tracking import events as tracking_events
from chalicelib.ads.tracking.events import AD_EVENT, AdEvent
from chalicelib.database import Document
from chalicelib.messaging import Poisoned, consume_together
from chalicelib.runtime import Runtime
from tests.ads.support.events import CLICKS, PRICE, SPRING, click, count, impression, stored, totals
from tests.ads.support.factories import activate, add_zones, put_campaign
from tests.support.clock import Clock

COPIES = 1_000


@pytest.fixture
def spring(runtime: Runtime) -> Runtime:
    """A CPM campaign at work, and a CPC one that can pay two clicks."""
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING, budget={"total_micros": 500 * PRICE})
    cpc = {"type": "cpc", "bid_micros": 1_000}
    put_campaign(runtime, CLICKS, pricing=cpc, budget={"total_micros": 2_000})
    activate(runtime, SPRING, CLICKS)
    return runtime


def lease(runtime: Runtime, impressions: int) -> str:
    terms = Terms(impressions, timedelta(minutes=1))
    acquired = leases.acquire(runtime.database, SPRING, terms, runtime.now(), runtime.random)
    assert acquired
    return str(acquired["_id"])


def spent(runtime: Runtime, campaign_id: str = SPRING) -> int:
    assert set(audit.audit(runtime.database, campaign_id).values()) == {0}
    return audit.read(runtime.database, campaign_id)["spent_micros"]


def test_an_impression_is_counted_billed_and_shared(spring: Runtime) -> None:
    lease_id = lease(spring, 50)

    assert count(spring, impression(1, lease_id, spring.now())) == 1

    assert totals(spring) == {"impressions": 1, "spend_micros": 250, "revenue_micros": 175}
    assert spent(spring) == 250


def test_a_site_s_own_share_decides_what_is_due_to_it(spring: Runtime) -> None:
    revenue_shares.put_share(spring.database, "blog", 9_000)

    count(spring, impression(1, lease(spring, 50), spring.now()))

    assert totals(spring)["revenue_micros"] == 225


def test_copies_within_a_batch_and_in_later_batches_count_once(spring: Runtime) -> None:
    seen = impression(1, lease(spring, 50), spring.now())

    assert [count(spring, seen, seen, seen), count(spring, seen)] == [1, 0]

    assert totals(spring)["impressions"] == 1
    assert spent(spring) == 250


def test_the_slots_of_a_decision_are_different_ads(spring: Runtime) -> None:
    lease_id = lease(spring, 50)
    both = [impression(1, lease_id, spring.now(), slot=slot) for slot in (0, 1)]

    assert count(spring, *both) == 2


def test_copies_that_many_workers_take_at_once_count_once(spring: Runtime) -> None:
    lease_id = lease(spring, 50)
    batch = [impression(n % 40, lease_id, spring.now()) for n in range(100)]

    def work(number: int) -> int:
        mine = random.Random(number).sample(batch, len(batch))
        return counting.count_and_bill(spring.database, mine, spring.now(), random.Random(number))

    with ThreadPoolExecutor(6) as pool:
        new = list(pool.map(work, range(6)))

    assert sum(new) == 40
    assert totals(spring)["impressions"] == 40
    assert spent(spring) == 40 * PRICE


def test_what_a_lease_does_not_cover_is_recorded_and_not_billed(spring: Runtime) -> None:
    lease_id = lease(spring, 2)

    count(spring, *(impression(n, lease_id, spring.now()) for n in range(3)))

    assert totals(spring) == {
        "impressions": 3,
        "unbilled": 1,
        "spend_micros": 500,
        "revenue_micros": 350,
    }
    assert sum(event["billed"] for event in stored(spring)) == 2


@pytest.mark.parametrize("lease_id", [None, "unknown-lease-id"])
def test_an_impression_without_a_lease_is_not_billed(spring: Runtime, lease_id: str | None) -> None:
    count(spring, impression(1, lease_id, spring.now()))

    assert totals(spring) == {"impressions": 1, "unbilled": 1}


def test_a_late_impression_is_recorded_and_not_billed(spring: Runtime) -> None:
    lease_id = lease(spring, 2)
    leases.end(spring.database, LeaseKey(SPRING, lease_id), spring.now())

    count(spring, impression(1, lease_id, spring.now()))

    assert totals(spring) == {"impressions": 1, "unbilled": 1}
    assert spent(spring) == 0


def test_a_lease_of_another_campaign_pays_nothing(spring: Runtime) -> None:
    lease_id = lease(spring, 2)

    count(spring, impression(1, lease_id, spring.now(), campaign_id="bmw:summer"))

    assert totals(spring) == {"impressions": 1, "unbilled": 1}


def test_a_click_of_a_cpc_campaign_is_charged_until_its_money_is_gone(spring: Runtime) -> None:
    count(spring, *(click(n, spring.now(), price_micros=1_000) for n in range(3)))

    assert totals(spring) == {
        "clicks": 3,
        "unbilled": 1,
        "spend_micros": 2_000,
        "revenue_micros": 1_400,
    }
    assert spent(spring, CLICKS) == 2_000
    assert campaigns.get(spring.database, CLICKS)["status"] == "exhausted"


def test_a_click_of_a_cpm_campaign_costs_nothing(spring: Runtime) -> None:
    count(spring, click(1, spring.now(), price_micros=0, campaign_id=SPRING))

    assert totals(spring) == {"clicks": 1}


def test_bots_are_recorded_apart_and_not_billed(spring: Runtime) -> None:
    lease_id = lease(spring, 2)
    preview = impression(1, lease_id, spring.now(), is_bot=True)

    count(spring, preview, preview, click(2, spring.now(), price_micros=1_000, is_bot=True))
    assert totals(spring) == {"bots": 2}
    assert (spent(spring), spent(spring, CLICKS)) == (0, 0)

    count(spring, impression(1, lease_id, spring.now()))
    assert totals(spring)["impressions"] == 1


def test_an_event_is_counted_in_its_own_minute_hour_and_day(spring: Runtime) -> None:
    lease_id = lease(spring, 3)
    times = [
        datetime(2026, 3, 1, 23, 59, 59, 999_000, tzinfo=UTC),
        datetime(2026, 3, 2, tzinfo=UTC),
        datetime(2026, 3, 2, 0, 1, tzinfo=UTC),
    ]

    count(spring, *(impression(n, lease_id, ts) for n, ts in enumerate(times)))

    one = {"impressions": 1, "spend_micros": 250, "revenue_micros": 175}
    two = {name: 2 * number for name, number in one.items()}
    hours = {row["period"]: row for row in spring.database[counters.HOURS.name].find()}
    days = {row["period"]: row for row in spring.database[counters.DAYS.name].find()}
    assert hours[datetime(2026, 3, 1, 23, tzinfo=UTC)]["minutes"] == {"59": one}
    assert hours[datetime(2026, 3, 2, tzinfo=UTC)]["minutes"] == {"0": one, "1": one}
    assert days[datetime(2026, 3, 1, tzinfo=UTC)]["hours"] == {"23": one}
    assert days[datetime(2026, 3, 2, tzinfo=UTC)]["hours"] == {"0": two}


class Crash(Exception):
    """The worker is stopped here."""


COUNTING = {
    str(Path(ads.__file__).parent / f"{name}.py")
    for name in (
        "tracking/counting",
        "tracking/events",
        "budgets/leases",
        "budgets/exhaustion",
        "budgets/clicks",
        "budgets/balances",
        "budgets/ledger",
        "budgets/pacing",
        "reports/counters",
        "billing/revenue_shares",
    )
}
WRITTEN = (
    tracking_events.EVENTS,
    counters.HOURS,
    counters.DAYS,
    ledger.LEDGER,
    leases.LEASES,
    campaigns.CAMPAIGNS,
)


def traced(work: Callable[[], Any], at_line: Callable[[tuple[str, int]], None]) -> None:
    """Run work, calling `at_line` at each line of the counting that it comes to."""

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename not in COUNTING:
            return None
        if event == "line":
            at_line((frame.f_code.co_filename, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)


def contents(runtime: Runtime) -> dict[str, list[Document]]:
    return {each.name: list(runtime.database[each.name].find()) for each in WRITTEN}


def restore(runtime: Runtime, before: dict[str, list[Document]]) -> None:
    for name, documents in before.items():
        runtime.database[name].delete_many({})
        if documents:
            runtime.database[name].insert_many(documents)


def numbers(runtime: Runtime) -> Any:
    money = [audit.read(runtime.database, name) for name in (SPRING, CLICKS)]
    assert all(
        set(audit.audit(runtime.database, name).values()) == {0} for name in (SPRING, CLICKS)
    )
    return money, totals(runtime), [(row["_id"], row["billed"]) for row in stored(runtime)]


def test_a_worker_stopped_at_any_statement_leaves_what_an_undisturbed_one_would(
    spring: Runtime,
) -> None:
    lease_id, small = lease(spring, 50), lease(spring, 2)
    batch: list[AdEvent] = [
        *(impression(n, lease_id, spring.now()) for n in range(4)),
        *(impression(n, small, spring.now()) for n in range(10, 13)),
        impression(20, "closed", spring.now()),
        impression(21, lease_id, spring.now(), is_bot=True),
        impression(1, lease_id, spring.now()),
        *(click(n, spring.now(), price_micros=1_000) for n in range(3)),
    ]
    before, untouched = contents(spring), numbers(spring)
    lines: dict[tuple[str, int], None] = {}
    traced(lambda: count(spring, *batch), lines.setdefault)
    undisturbed = numbers(spring)
    assert undisturbed[1]["impressions"] == 8
    assert len(lines) > 80
    left_nothing = 0
    for stopped_at in lines:
        restore(spring, before)

        def stop(line: tuple[str, int], stopped_at: tuple[str, int] = stopped_at) -> None:
            if line == stopped_at:
                raise Crash

        with pytest.raises(Crash):
            traced(lambda: count(spring, *batch), stop)
        left_nothing += numbers(spring) == untouched

        for _ in range(2):
            count(spring, *batch)
            exhaustion.refresh_all(spring.database, spring.now())
            assert numbers(spring) == undisturbed, stopped_at
    assert left_nothing > 60


def test_a_thousand_identical_events_in_batches_count_one(spring: Runtime, clock: Clock) -> None:
    seen = impression(1, lease(spring, 50), clock())

    for _ in range(10):
        count(spring, *[seen] * (COPIES // 10))

    assert totals(spring)["impressions"] == 1


def test_of_an_order_that_a_batch_has_twice_the_first_counts(spring: Runtime) -> None:
    first, second = (
        impression(number, None, spring.now(), type="conversion", price_micros=0, order="7")
        for number in (1, 2)
    )

    count(
        spring,
        first.model_copy(update={"value_micros": 5}),
        second.model_copy(update={"value_micros": 9}),
    )

    assert totals(spring) == {"conversions": 1, "value_micros": 5}


def test_the_value_of_conversions_stops_and_never_fails(
    spring: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counters, "SHARDS", 1)
    conversion = {"type": "conversion", "price_micros": 0, "value_micros": 10**14}
    orders = [impression(n, None, spring.now(), order=f"A-{n}", **conversion) for n in range(12)]
    count(spring, orders[0])
    assert totals(spring)["value_micros"] == 10**14

    for each in orders[1:]:
        count(spring, each)

    assert totals(spring) == {"conversions": 12, "value_micros": counters.MAX_COUNTED_VALUE}


def test_a_value_near_the_end_of_64_bits_takes_another_one(
    spring: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counters, "SHARDS", 1)
    conversion = {"type": "conversion", "price_micros": 0, "value_micros": 5}
    count(spring, impression(1, None, spring.now(), order="A-1", **conversion))
    for report in (counters.HOURS, counters.DAYS):
        full = {"$set": {"value_micros": 2**63 - 1}}
        spring.database[report.name].update_many({}, full)

    count(spring, impression(2, None, spring.now(), order="A-2", **conversion))

    assert totals(spring) == {"conversions": 2, "value_micros": 2**63 - 1}


def test_a_conversion_in_a_new_document_writes_it_whole(spring: Runtime) -> None:
    conversion = {"type": "conversion", "price_micros": 0, "value_micros": 5}
    count(spring, impression(1, None, spring.now(), order="A-1", **conversion))
    count(spring, impression(2, None, spring.now()))

    for report in (counters.HOURS, counters.DAYS):
        found = list(spring.database[report.name].find({}, {"shard": 0}))
        assert {tuple(each[key] for key in counters.KEYS) for each in found} == {
            (SPRING, "one", "blog", "banner")
        }
        assert all(each["updated_at"] == spring.now() for each in found)


def test_events_that_a_report_refuses_are_found_in_one_try(
    spring: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counters, "SHARDS", 1)
    poison = [impression(n, None, spring.now(), zone_id="side") for n in range(100)]
    sound = [impression(n, None, spring.now()) for n in range(100, 500)]
    count(spring, poison[0])
    broken = {"$set": {"impressions": "a hundred"}}
    hours = spring.database[counters.HOURS.name]
    hours.update_many({}, broken, bypass_document_validation=True)
    batch = [each for pair in zip(poison[1:], sound, strict=False) for each in pair] + sound[99:]
    tries = []

    def handle(events: list[AdEvent]) -> None:
        tries.append(len(events))
        count(spring, *events)

    bodies = {f"m{n}": each.model_dump_json() for n, each in enumerate(batch)}
    records = [{"messageId": name, "body": body} for name, body in bodies.items()]
    answer = consume_together({"Records": records}, AD_EVENT, handle)

    assert tries == [499, 400]
    failed = {each["itemIdentifier"] for each in answer["batchItemFailures"]}
    assert {bodies[name] for name in failed} == {each.model_dump_json() for each in poison[1:]}
    assert len(stored(spring)) == 401


def test_an_event_that_the_log_refuses_fails_alone(
    spring: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound, refused = (impression(n, None, spring.now()) for n in range(2))
    stores = counting._stored

    def without_its_type(event: AdEvent, *args: Any) -> Any:
        row = stores(event, *args)
        return {**row, "type": 5} if event is refused else row

    monkeypatch.setattr(counting, "_stored", without_its_type)

    with pytest.raises(Poisoned) as poisoned:
        count(spring, sound, refused)

    assert poisoned.value.messages == [refused]
    assert stored(spring) == []


@pytest.mark.parametrize("field", ["price_micros", "value_micros"])
@pytest.mark.parametrize("amount", [-1, 10**15 + 1, 2**63])
def test_an_amount_that_no_counter_could_hold_is_refused_at_the_door(
    clock: Clock, field: str, amount: int
) -> None:
    with pytest.raises(ValidationError):
        impression(1, None, clock(), **{field: amount})
