"""The leases that a container holds, on which its decisions draw in memory."""

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta

import pymongo

from chalicelib.ads.budgets import leases
from chalicelib.ads.budgets.leases import StoredLease, Terms
from chalicelib.errors import Unavailable
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

# After a refusal, how long a campaign is taken to have no money: it is released by the minute.
REFUSED_FOR = timedelta(seconds=1)
# A decision waits no longer for money: one whose campaign another holds takes the next ad.
ACQUIRE_TIMEOUT_SECONDS = 0.5
# Campaigns remembered; the ones drawn on longest ago are forgotten, and their leases expire.
MAX_HELD = 10_000


@dataclass
class _Held:
    """A lease in hand, or (without an id) the memory of a refusal, until it ends."""

    until: datetime
    lease_id: str | None = None
    remaining_micros: int = 0


class HeldLeases:
    """One app's leases; what is left of them when the container dies is returned by a schedule."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._terms = Terms(
            impressions=runtime.settings.budget_lease_impressions,
            duration=timedelta(seconds=runtime.settings.budget_lease_seconds),
        )
        self._held: dict[str, _Held] = {}
        # One lock for all: a lease is acquired once for many decisions.
        self._lock = threading.Lock()

    def draw(self, campaign_id: str, price_micros: int) -> str | None:
        """Reserve one impression; return the id of the lease that pays it, or None."""
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
        """Undo a draw of a decision that was not made after all."""
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
        except Unavailable:
            log.warning("no lease in time", extra={"fields": {"campaign_id": campaign_id}})
            return None
