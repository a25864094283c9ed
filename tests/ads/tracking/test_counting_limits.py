"""Events that no document can take, and workers that stop half-way."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from pydantic import ValidationError

import chalicelib
from chalicelib.ads.budgets import audit, exhaustion, leases, ledger
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
from tests.ads.tracking.support.leased import lease
from tests.support.clock import Clock


@pytest.fixture
def spring(runtime: Runtime) -> Runtime:
    """A CPM campaign at work, and a CPC one that can pay two clicks."""
    add_zones(runtime, "blog/banner")
    put_campaign(runtime, SPRING, budget={"total_micros": 500 * PRICE})
    cpc = {"type": "cpc", "bid_micros": 1_000}
    put_campaign(runtime, CLICKS, pricing=cpc, budget={"total_micros": 2_000})
    activate(runtime, SPRING, CLICKS)
    return runtime


class Crash(Exception):
    """The worker is stopped here."""


COUNTING = {
    str(Path(chalicelib.__file__).parent / f"{name}.py")
    for name in (
        "ads/tracking/counting",
        "ads/tracking/events",
        "ads/budgets/leases",
        "ads/budgets/exhaustion",
        "ads/budgets/clicks",
        "ads/budgets/balances",
        "ads/budgets/ledger",
        "ads/budgets/pacing",
        "ads/reports/counters",
        "sites/settings",
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
            exhaustion.refresh_all(spring.database, spring.now(), spring.random)
            assert numbers(spring) == undisturbed, stopped_at
    assert left_nothing > 60


@pytest.mark.bounds(ads={"report_shards": 1})
def test_the_value_of_conversions_stops_and_never_fails(spring: Runtime) -> None:
    conversion = {"type": "conversion", "price_micros": 0, "value_micros": 10**14}
    orders = [impression(n, None, spring.now(), order=f"A-{n}", **conversion) for n in range(12)]
    count(spring, orders[0])
    assert totals(spring)["value_micros"] == 10**14

    for each in orders[1:]:
        count(spring, each)

    assert totals(spring) == {"conversions": 12, "value_micros": counters.MAX_COUNTED_VALUE}


@pytest.mark.bounds(ads={"report_shards": 1})
def test_a_value_near_the_end_of_64_bits_takes_another_one(spring: Runtime) -> None:
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


@pytest.mark.bounds(ads={"report_shards": 1})
def test_events_that_a_report_refuses_are_found_in_one_try(spring: Runtime) -> None:
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
    stores = counting._to_row

    def without_its_type(event: AdEvent, *args: Any) -> Any:
        row = stores(event, *args)
        return {**row, "type": 5} if event is refused else row

    monkeypatch.setattr(counting, "_to_row", without_its_type)

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
