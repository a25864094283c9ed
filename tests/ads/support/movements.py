"""Movements of a campaign's money, as tests make them, and where it is then."""

from datetime import timedelta
from typing import Any

from pymongo.client_session import ClientSession

from chalicelib.ads.budgets import audit, clicks, exhaustion, leases
from chalicelib.ads.budgets.leases import LeaseKey, StoredLease, Terms
from chalicelib.ads.inventory import campaigns
from chalicelib.database import in_transaction
from chalicelib.runtime import Runtime
from tests.ads.support.factories import activate, add_zones, put_campaign
from tests.support.clock import Clock

SPRING = "mercedes:spring"
# The inventory's campaigns bid 250,000 micros CPM.
PRICE = 250
TERMS = Terms(impressions=50, duration=timedelta(minutes=1))
GRACE = timedelta(minutes=20)


def funded(runtime: Runtime, impressions: int, **budget: Any) -> None:
    """An active campaign whose total pays so many impressions."""
    add_zones(runtime, "blog/banner")
    total = {"total_micros": impressions * PRICE, **budget}
    put_campaign(runtime, SPRING, budget=total)
    activate(runtime, SPRING)


def live(runtime: Runtime, clock: Clock, **time: float) -> None:
    """Let time pass, with a run of the schedule every ten minutes."""
    end = clock() + timedelta(**time)
    while clock() < end:
        clock.time = min(clock() + timedelta(minutes=10), end)
        refresh(runtime)


def acquire(runtime: Runtime, impressions: int = 50) -> StoredLease | None:
    terms = Terms(impressions, TERMS.duration)
    return leases.acquire(runtime.database, SPRING, terms, runtime.now(), runtime.random)


def settle(runtime: Runtime, lease: StoredLease, count: int) -> list[bool]:
    def work(session: ClientSession) -> list[bool]:
        key = LeaseKey(SPRING, lease["_id"])
        prices = [PRICE] * count
        return leases.settle(runtime.database, session, key, prices, runtime.now())

    return in_transaction(runtime.database, work)


def charge(runtime: Runtime, *prices: int) -> list[bool]:
    def work(session: ClientSession) -> list[bool]:
        return clicks.charge(runtime.database, session, SPRING, prices, runtime.now())

    return in_transaction(runtime.database, work)


def end(runtime: Runtime, lease: StoredLease) -> bool:
    return leases.end(runtime.database, LeaseKey(SPRING, lease["_id"]), runtime.now())


def refresh(runtime: Runtime) -> int:
    return exhaustion.refresh_all(runtime.database, runtime.now(), runtime.random)


def money(runtime: Runtime) -> dict[str, int]:
    """The balances in impressions, once the invariant and the ledger are checked."""
    balance = audit.read(runtime.database, SPRING)
    total = balance.pop("total_micros")
    assert set(audit.audit(runtime.database, SPRING).values()) == {0}
    parts = ("spent_micros", "leased_micros", "available_micros")
    assert sum(balance[name] for name in parts) == balance["released_micros"] <= total
    assert min(balance.values()) >= 0
    return {name.removesuffix("_micros"): amount // PRICE for name, amount in balance.items()}


def status(runtime: Runtime) -> str:
    return campaigns.get(runtime.database, SPRING)["status"]
