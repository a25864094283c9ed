"""The leases in a container's memory, which pay its decisions."""

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

import pymongo
from pymongo.errors import PyMongoError

from chalicelib.ads.budgets import leases
from chalicelib.ads.budgets.leases import StoredLease, Terms
from chalicelib.errors import Unavailable
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

# The pause after a refused lease; the schedule releases money once a minute.
REFUSED_FOR = timedelta(seconds=1)
# The longest wait for a lease. If another writer holds the campaign or the lease for longer, the
# decision takes the next ad.
ACQUIRE_TIMEOUT_SECONDS = 0.5
# Campaigns in memory; beyond them, the container drops the oldest lease, which then expires.
MAX_HELD = 10_000


@dataclass
class _Held:
    """A lease until its expiry; without an id: a refusal until the time of the next try."""

    until: datetime
    lease_id: str | None = None
    remaining_micros: int = 0


class HeldLeases:
    """The leases of one container; if it dies, `leases.end_expired` returns their unspent money."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._terms = Terms(
            impressions=runtime.settings.budget_lease_impressions,
            duration=timedelta(seconds=runtime.settings.budget_lease_seconds),
        )
        self._held: dict[str, _Held] = {}
        # One lock for all campaigns: a decision holds it briefly, unless it acquires
        # a lease, which then lasts for many decisions.
        self._lock = threading.Lock()

    def draw(self, campaign_id: str, price_micros: int) -> str | None:
        """Reserve the price of one impression; return the paying lease's id, None without money."""
        now = self._runtime.now()
        with self._lock:
            held = self._held.get(campaign_id)
            if held is None or now >= held.until or self._is_used_up(held, price_micros):
                held = self._acquire(campaign_id, now)
            if held.remaining_micros < price_micros:
                return None
            held.remaining_micros -= price_micros
            return held.lease_id

    def put_back(self, campaign_id: str, lease_id: str, price_micros: int) -> None:
        """Undo the draw of a discarded decision, if its lease is still in memory."""
        with self._lock:
            held = self._held.get(campaign_id)
            if held is not None and held.lease_id == lease_id:
                held.remaining_micros += price_micros

    def _is_used_up(self, held: _Held, price_micros: int) -> bool:
        return held.lease_id is not None and held.remaining_micros < price_micros

    def _acquire(self, campaign_id: str, now: datetime) -> _Held:
        lease = self._lease(campaign_id, now)
        held = _Held(now + REFUSED_FOR)
        if lease is not None:
            held = _Held(lease["expires_at"], lease["_id"], leases.promisable_micros(lease))
        self._held.pop(campaign_id, None)
        self._held[campaign_id] = held
        while len(self._held) > MAX_HELD:
            self._held.pop(next(iter(self._held)))
        return held

    def _lease(self, campaign_id: str, now: datetime) -> StoredLease | None:
        runtime = self._runtime
        try:
            with pymongo.timeout(ACQUIRE_TIMEOUT_SECONDS):
                return leases.acquire(
                    runtime.database, campaign_id, self._terms, now, runtime.random
                )
        except (Unavailable, PyMongoError) as error:
            if isinstance(error, PyMongoError) and not error.timeout:
                raise
            log.warning("no lease in time", extra={"fields": {"campaign_id": campaign_id}})
            return None
