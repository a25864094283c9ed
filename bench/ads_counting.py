"""Cost of counting: beacons, the worker, drawing on a lease, rolling a day up.

The floor of each is what the raw driver needs for the part that cannot be done without. A beacon
without a visitor asks the database for nothing and draws are made in memory, so that neither has a
floor. The queue of the beacons takes every message at once: what SQS itself takes is its own.
"""

import dataclasses
import itertools
from collections.abc import Iterator
from datetime import timedelta

from bench import ads_day
from bench.calls import AppCalls
from bench.case import Case
from bench.inventory import SITE, add_visitor, add_zone
from bench.stage import Stage
from chalicelib.ads.budgets import leases
from chalicelib.ads.budgets.held_leases import HeldLeases
from chalicelib.ads.budgets.leases import Terms
from chalicelib.ads.inventory.campaigns import CAMPAIGNS, price_micros
from chalicelib.ads.reports.counters import AdPlace
from chalicelib.ads.tracking import beacons, counting, events
from chalicelib.ads.tracking.events import AdEvent
from chalicelib.ads.tracking.tokens import Offer
from chalicelib.ads.visitors.histories import Served
from chalicelib.ads.visitors.profiles import PROFILES
from chalicelib.database import Document
from chalicelib.runtime import Runtime

ZONE = "counted"
# Impressions in a visitor's profile: the number of advertisers, and of impressions of each.
PROFILES_MET = {20: (5, 4), 2_000: (50, 40), 20_000: (200, 100)}
# More than a run counts.
LEASED_IMPRESSIONS = 1_000_000
DRAWS = 1_000


def groups(stage: Stage) -> Iterator[list[Case]]:
    """Yield beacons, batches of the worker, draws, and a day's reports at three sizes."""
    runtime = stage.runtime
    add_zone(runtime, ZONE, 10)
    campaign = runtime.database[CAMPAIGNS.name].find_one({"targets.zone_id": ZONE})
    assert campaign is not None  # noqa: S101 - added above
    yield [
        Beacons(runtime, campaign).case(),
        *(Beacons(runtime, campaign, size).case() for size in stage.sizes(*PROFILES_MET)),
    ]
    yield [Worker(runtime, campaign, batch).case() for batch in stage.sizes(10, 100, 500)]
    yield [_draws(runtime, campaign, lease) for lease in stage.sizes(10, 100, 1_000)]
    yield [
        case
        for size in stage.sizes(10_000, 100_000, 500_000)
        for case in ads_day.cases(stage.with_database(f"day-{size}").runtime, size)
    ]


class Beacons:
    """Beacons through the app, each of a decision of its own; the floor is a profile's `$push`."""

    def __init__(self, runtime: Runtime, campaign: Document, met: int | None = None) -> None:
        self._runtime, self._campaign, self._met = runtime, campaign, met
        self._visitor = f"met-{met}" if met else None
        self._calls = AppCalls(runtime)
        self._numbers = itertools.count()
        self._event: Document = {}
        if met:
            for visitor in (f"met-{met}", f"raw-{met}"):
                add_visitor(runtime, visitor, *PROFILES_MET[met])

    def case(self) -> Case:
        """Return the case of these beacons."""
        floor = self._push if self._met else None
        return Case(
            "beacon" if self._met else "beacon without a visitor",
            lambda: self._calls.send(self._event),
            floor,
            floor_is="$push to the same list of a profile",
            size=self._met or 1,
            unit="impressions met" if self._met else "",
            prepare=self._next,
        )

    def _next(self) -> None:
        offer = Offer(
            Served(
                decision=f"decision-{self._met}-{next(self._numbers):07}",
                slot=0,
                campaign_id=self._campaign["_id"],
                ad_unit_id=self._campaign["ad_units"][0]["ad_unit_id"],
                site_id=SITE,
                zone_id=ZONE,
            ),
            visitor=self._visitor,
            price_micros=0,
            lease_id=None,
            expires_at=self._runtime.now() + timedelta(hours=1),
        )
        url = beacons.urls(self._runtime, offer, self._campaign["pricing"])["impression_url"]
        path = {"token": url.rpartition("/")[2]}
        self._event = self._calls.event("POST", "/ads/events/{token}", path)

    def _push(self) -> None:
        entry = {
            "ts": self._runtime.now(),
            "campaign": "another",
            "ad_unit_id": "unit-1",
            "site_id": SITE,
            "zone_id": ZONE,
            "decision": f"raw-{next(self._numbers):07}",
            "slot": 0,
        }
        push = {"advertisers.advertiser-0.impressions": {"$each": [entry], "$slice": -100}}
        profiles = self._runtime.database[PROFILES.name]
        profiles.update_one({"_id": f"raw-{self._met}"}, {"$push": push})


class Worker:
    """Batches of impressions of one lease; the floor is `insert_many` of the same events."""

    def __init__(self, runtime: Runtime, campaign: Document, batch: int) -> None:
        self._runtime, self._campaign, self._batch = runtime, campaign, batch
        terms = Terms(LEASED_IMPRESSIONS, timedelta(hours=1))
        database, now = runtime.database, runtime.now()
        lease = leases.acquire(database, campaign["_id"], terms, now, runtime.random)
        assert lease is not None  # noqa: S101 - the budget of the bench does not end
        self._lease_id = lease["_id"]
        self._numbers = itertools.count()
        self._seen: list[AdEvent] = []
        self._rows: list[Document] = []

    def case(self) -> Case:
        """Return the case of one batch."""
        return Case(
            "worker's batch",
            self._count,
            self._insert,
            floor_is="insert_many of the same events",
            size=self._batch,
            unit="events",
            items=self._batch,
            door="function",
            prepare=self._next,
            prepare_floor=self._next,
        )

    def _next(self) -> None:
        self._seen = [self._impression() for _ in range(self._batch)]
        self._rows = [_stored(event) for event in self._seen]

    def _count(self) -> None:
        counting.count_and_bill(self._runtime, self._seen)

    def _insert(self) -> None:
        self._runtime.database[events.EVENTS.name].insert_many(self._rows)

    def _impression(self) -> AdEvent:
        return AdEvent(
            type="impression",
            decision=f"{self._batch}-{next(self._numbers):07}",
            slot=0,
            campaign_id=self._campaign["_id"],
            ad_unit_id=self._campaign["ad_units"][0]["ad_unit_id"],
            site_id=SITE,
            zone_id=ZONE,
            price_micros=price_micros(self._campaign["pricing"]),
            lease_id=self._lease_id,
            ts=self._runtime.now(),
        )


def _stored(event: AdEvent) -> Document:
    """Return an event as the worker stores it."""
    place = AdPlace(event.campaign_id, event.ad_unit_id, event.site_id, event.zone_id)
    paid = {"billed": True, "price_micros": event.price_micros, "lease_id": event.lease_id}
    return {**ads_day.raw_event(event.decision, place, event.ts), **paid}


def _draws(runtime: Runtime, campaign: Document, lease: int) -> Case:
    """Give draws on leases of so many impressions, which are acquired as they run out."""
    settings = runtime.settings.model_copy(update={"budget_lease_impressions": lease})
    held = HeldLeases(dataclasses.replace(runtime, settings=settings))
    price = price_micros(campaign["pricing"])

    def draw() -> None:
        for _ in range(DRAWS):
            held.draw(campaign["_id"], price)

    return Case(
        "1,000 draws",
        draw,
        size=lease,
        unit="impressions leased",
        items=DRAWS,
        door="function",
        samples_at_most=2,
    )
