"""Cost of a day's reports: rolling them up, and reconciling them with the raw events."""

import bisect
import itertools
from collections.abc import Iterator
from datetime import datetime, timedelta

from bench import raw_changes
from bench.case import Case, Work
from bench.inventory import SITE
from chalicelib.ads.reports import counters, roll_ups
from chalicelib.ads.reports import progress as reports_progress
from chalicelib.ads.reports.counters import AdPlace, CountedEvent
from chalicelib.ads.tracking import events, reconciliation
from chalicelib.database import Document, in_transaction
from chalicelib.runtime import Runtime

ZONE = "counted"
PLACES = 200
HOURS = 24
LOADED_AT_ONCE = 10_000


def cases(runtime: Runtime, size: int) -> Iterator[Case]:
    """Give the roll-up and the reconciling of a day of so many events."""
    today = runtime.now().replace(hour=0, minute=0, second=0, microsecond=0)
    day = today - timedelta(days=1)
    _load_day(runtime, day, size)
    progress = runtime.database[reports_progress.PROGRESS.name]
    yield Case(
        "a day rolled up",
        lambda: roll_ups.roll_up(runtime.database, runtime.now()),
        raw_changes.roll_up(runtime.database, day),
        floor_is="the same three aggregations",
        size=size,
        unit="events",
        items=size,
        door="function",
        prepare=lambda: progress.delete_many({}),
        samples_at_most=5,
    )

    def reconcile() -> None:
        for number in range(PLACES):
            found = reconciliation.reconcile(runtime.database, f"bench:day-{number}", day, today)
            assert found == []  # noqa: S101 - both were loaded alike

    yield Case(
        "a day reconciled",
        reconcile,
        _count_raw(runtime, day),
        floor_is="one $group of the events",
        size=size,
        unit="events",
        items=size,
        door="function",
        samples_at_most=1,
    )


def _load_day(runtime: Runtime, day: datetime, number_of_events: int) -> None:
    """Write a day's raw events, and its reports over all shards, as the worker leaves them."""
    collection = runtime.database[events.EVENTS.name]
    # In the order of time, as events come.
    slots = [(hour, number) for hour in range(HOURS) for number in range(PLACES)]
    ends = [at * number_of_events // len(slots) for at in range(len(slots) + 1)]
    numbers = [end - start for start, end in itertools.pairwise(ends)]
    rows: list[Document] = []
    for number in range(number_of_events):
        hour, place = slots[bisect.bisect_right(ends, number) - 1]
        at = day + timedelta(hours=hour)
        rows.append(raw_event(f"day-{number:08}", _place(place), at))
        if len(rows) == LOADED_AT_ONCE:
            collection.insert_many(rows, ordered=False)
            rows.clear()
    shards = runtime.bounds.ads.report_shards
    for shard in range(shards):
        mine = [
            CountedEvent(
                _place(place),
                day + timedelta(hours=hour),
                {"impressions": (numbers[at] + shard) // shards},
            )
            for at, (hour, place) in enumerate(slots)
        ]
        _add(runtime, mine, shard)


def _add(runtime: Runtime, counted: list[CountedEvent], shard: int) -> None:
    database, now = runtime.database, runtime.now()
    in_transaction(database, lambda session: counters.add(database, session, counted, shard, now))


def _place(number: int) -> AdPlace:
    return AdPlace(f"bench:day-{number}", "one", SITE, ZONE)


def raw_event(decision: str, place: AdPlace, ts: datetime) -> Document:
    """Return an impression as the worker stores it, which nobody pays for."""
    return {
        "_id": f"{decision}:0:impression",
        **place._asdict(),
        "type": "impression",
        "decision": decision,
        "slot": 0,
        "lease_id": None,
        "order": None,
        "ts": ts,
        "is_bot": False,
        "billed": False,
        "price_micros": 0,
        "revenue_micros": 0,
        "value_micros": 0,
    }


def _count_raw(runtime: Runtime, day: datetime) -> Work:
    """Return the count of a day's events by place and hour."""
    hour = {"$dateTrunc": {"date": "$ts", "unit": "hour"}}
    key = {"period": hour, **{name: f"${name}" for name in AdPlace._fields}}
    pipeline: list[Document] = [
        {"$match": {"ts": {"$gte": day, "$lt": day + timedelta(days=1)}}},
        {"$group": {"_id": key, "impressions": {"$sum": 1}}},
    ]
    return lambda: list(runtime.database[events.EVENTS.name].aggregate(pipeline))
