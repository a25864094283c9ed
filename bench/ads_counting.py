"""What counting costs: beacons, the worker, drawing on a lease, rolling a day up.

Each stands beside what the raw driver needs for the part that cannot be done without. The
queue of the beacons takes every message at once: what SQS itself takes is its own.
"""

import bisect
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from pymongo.collection import Collection as MongoCollection

from app import create_app
from bench.inventory import SITE, add_zone
from bench.stack import Calls
from bench.timing import compare
from chalicelib.ads import counts, events, leases, reconciling, rolling, tracking
from chalicelib.ads.balances import CAMPAIGNS, price_micros
from chalicelib.ads.counts import Counted, Place
from chalicelib.ads.drawing import HeldLeases
from chalicelib.ads.events import AdEvent
from chalicelib.ads.leases import Terms
from chalicelib.ads.tokens import Offer
from chalicelib.ads.visitors import PROFILES
from chalicelib.database import Document, in_transaction
from chalicelib.queues import Message, Queues
from chalicelib.runtime import Runtime

ZONE = "counted"
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"
BEACONS = 1_000
EVENTS = 20_000
DRAWS = 100_000
DAY_EVENTS = 1_000_000
PLACES = 200
HOURS = 24
LOADED_AT_ONCE = 10_000


class Accepting(Queues):
    """A queue that takes everything, at once and for good."""

    def __init__(self) -> None:
        super().__init__("bench-")

    def send(self, *_: Message) -> bool:
        """Take the messages."""
        return True


def measure(runtime: Runtime) -> list[dict[str, Any]]:
    """Return a row for each work: how many a second, the median, and those of the raw driver."""
    add_zone(runtime, ZONE, 10)
    campaign = runtime.database[CAMPAIGNS.name].find_one({"targets.zone_id": ZONE})
    assert campaign is not None  # noqa: S101 - added above
    runtime = replace(runtime, queues=Accepting())
    return [
        *(_beacons(runtime, campaign, visitor) for visitor in (None, "a-visitor")),
        *(_worker(runtime, campaign, batch) for batch in (100, 500)),
        _draws(runtime, campaign),
        *_day(runtime),
    ]


def _row(
    work: str, number: int, seconds: float, raw_per_second: float | None, p50_ms: float | None
) -> dict[str, Any]:
    per_second = number / seconds
    ratio = round(raw_per_second / per_second, 2) if raw_per_second else "-"
    return {
        "work": work,
        "number": number,
        "per_second": round(per_second, 1),
        "p50_ms": p50_ms or "-",
        "raw_per_second": round(raw_per_second) if raw_per_second else "-",
        "ratio": ratio,
    }


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _beacons(runtime: Runtime, campaign: Document, visitor: str | None) -> dict[str, Any]:
    """Beacons through the app, each of a decision of its own; raw is the profile's `$push`."""
    app, call = create_app(runtime), Calls(runtime)
    waiting = (_beacon(runtime, call, campaign, visitor, number) for number in range(2 * BEACONS))
    numbers = iter(range(2 * BEACONS))
    profiles = runtime.database[PROFILES.name]
    found = compare(
        lambda: app(next(waiting), None), lambda: _push(profiles, next(numbers)), BEACONS
    )
    kind = "with" if visitor else "without"
    seconds = found["p50_ms"] / 1_000 * BEACONS
    raw = 1_000 / found["raw_p50_ms"] if visitor else None
    return _row(f"beacon, {kind} a profile", BEACONS, seconds, raw, found["p50_ms"])


def _beacon(
    runtime: Runtime, call: Calls, campaign: Document, visitor: str | None, number: int
) -> Document:
    offer = Offer(
        decision=f"decision-{number:07}",
        slot=0,
        campaign_id=campaign["_id"],
        ad_unit_id=campaign["ad_units"][0]["ad_unit_id"],
        site_id=SITE,
        zone_id=ZONE,
        visitor=visitor,
        price_micros=0,
        lease_id=None,
        expires_at=runtime.now() + timedelta(hours=1),
    )
    url = tracking.urls(runtime, offer, campaign["pricing"])["impression_url"]
    event = call.event("POST", "/ads/events/{token}", {"token": url.rpartition("/")[2]})
    event["headers"]["user-agent"] = BROWSER
    return event


def _push(profiles: MongoCollection[Document], number: int) -> None:
    entries = {"$each": [{"decision": number, "slot": 0}], "$slice": -100}
    profiles.update_one({"_id": "raw"}, {"$push": {"impressions": entries}}, upsert=True)


def _worker(runtime: Runtime, campaign: Document, batch: int) -> dict[str, Any]:
    """Count impressions of one lease in batches; raw is `insert_many` of the same events."""
    terms = Terms(EVENTS, timedelta(hours=1))
    database, now, rng = runtime.database, runtime.now(), runtime.random
    lease = leases.acquire(database, campaign["_id"], terms, now, rng)
    assert lease is not None  # noqa: S101 - the budget of the bench does not end
    seen = list(_impressions(campaign, lease["_id"], now, batch))

    def count() -> None:
        for start in range(0, EVENTS, batch):
            events.count(database, seen[start : start + batch], now, rng)

    seconds = _seconds(count)
    rows = [{**event.model_dump(), "_id": event.id} for event in seen]
    raw = database["raw.event"]
    raw.create_indexes(list(events.EVENTS.indexes))

    def insert() -> None:
        for start in range(0, EVENTS, batch):
            raw.insert_many(rows[start : start + batch])

    raw_per_second = EVENTS / _seconds(insert)
    raw.drop()
    return _row(f"worker, events in batches of {batch}", EVENTS, seconds, raw_per_second, None)


def _impressions(campaign: Document, lease_id: str, now: datetime, batch: int) -> Iterator[AdEvent]:
    for number in range(EVENTS):
        yield AdEvent(
            type="impression",
            decision=f"{batch}-{number:07}",
            slot=0,
            campaign_id=campaign["_id"],
            ad_unit_id=campaign["ad_units"][0]["ad_unit_id"],
            site_id=SITE,
            zone_id=ZONE,
            price_micros=price_micros(campaign["pricing"]),
            lease_id=lease_id,
            ts=now,
        )


def _draws(runtime: Runtime, campaign: Document) -> dict[str, Any]:
    held, price = HeldLeases(runtime), price_micros(campaign["pricing"])

    def draw() -> None:
        for _ in range(DRAWS):
            held.draw(campaign["_id"], price)

    size = runtime.settings.budget_lease_impressions
    return _row(f"draws, of leases of {size}", DRAWS, _seconds(draw), None, None)


def _day(runtime: Runtime) -> Iterator[dict[str, Any]]:
    """Roll up and reconcile a day of a million events; raw is their count by place and hour."""
    today = runtime.now().replace(hour=0, minute=0, second=0, microsecond=0)
    day = today - timedelta(days=1)
    _load_day(runtime, day)
    raw_seconds = _seconds(lambda: _count_raw(runtime, day))
    rolled = _seconds(lambda: rolling.roll_up(runtime.database, runtime.now()))
    raw = DAY_EVENTS / raw_seconds
    yield _row("roll up a day's events", DAY_EVENTS, rolled, raw, round(rolled * 1_000, 1))

    def reconcile() -> None:
        for number in range(PLACES):
            found = reconciling.reconcile(runtime.database, f"bench:day-{number}", day, today)
            assert found == []  # noqa: S101 - both were loaded alike

    took = _seconds(reconcile)
    yield _row("reconcile a day's events", DAY_EVENTS, took, raw, round(took * 1_000, 1))


def _load_day(runtime: Runtime, day: datetime) -> None:
    """Write a day's raw events, and its reports over all shards, as the worker leaves them."""
    collection = runtime.database[events.EVENTS.name]
    # In the order of time, as events come.
    slots = [(hour, number) for hour in range(HOURS) for number in range(PLACES)]
    ends = [at * DAY_EVENTS // len(slots) for at in range(len(slots) + 1)]
    numbers = [end - start for start, end in itertools.pairwise(ends)]
    rows: list[Document] = []
    for number in range(DAY_EVENTS):
        hour, place = slots[bisect.bisect_right(ends, number) - 1]
        rows.append(_raw_event(number, _place(place), day + timedelta(hours=hour)))
        if len(rows) == LOADED_AT_ONCE:
            collection.insert_many(rows, ordered=False)
            rows.clear()
    for shard in range(counts.SHARDS):
        mine = [
            Counted(
                _place(place),
                day + timedelta(hours=hour),
                {"impressions": (numbers[at] + shard) // counts.SHARDS},
            )
            for at, (hour, place) in enumerate(slots)
        ]
        _add(runtime, mine, shard)


def _add(runtime: Runtime, counted: list[Counted], shard: int) -> None:
    database, now = runtime.database, runtime.now()
    in_transaction(database, lambda session: counts.add(database, session, counted, shard, now))


def _place(number: int) -> Place:
    return Place(f"bench:day-{number}", "one", SITE, ZONE)


def _raw_event(number: int, place: Place, ts: datetime) -> Document:
    return {
        "_id": f"day-{number:08}:0:impression",
        **place._asdict(),
        "type": "impression",
        "ts": ts,
        "is_bot": False,
        "billed": False,
        "price_micros": 0,
        "revenue_micros": 0,
        "value_micros": 0,
    }


def _count_raw(runtime: Runtime, day: datetime) -> None:
    hour = {"$dateTrunc": {"date": "$ts", "unit": "hour"}}
    key = {"period": hour, **{name: f"${name}" for name in Place._fields}}
    wanted = {"ts": {"$gte": day, "$lt": day + timedelta(days=1)}}
    pipeline: list[Document] = [
        {"$match": wanted},
        {"$group": {"_id": key, "impressions": {"$sum": 1}}},
    ]
    list(runtime.database[events.EVENTS.name].aggregate(pipeline))
