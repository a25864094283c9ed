"""What a warm container keeps of the ads: compiled zones, large creatives and leases."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache

from chalicelib.ads.budgets.held_leases import HeldLeases
from chalicelib.ads.errors import UnknownZone
from chalicelib.ads.inventory import creatives, zones
from chalicelib.ads.inventory.creatives import StoredCreative
from chalicelib.ads.serving.compiled_zone import CompiledZone
from chalicelib.ads.visitors import profile_reader
from chalicelib.runtime import Runtime

# At most 16 KiB each.
MAX_CREATIVES_HELD = 256


class _Held:
    """A zone's place in memory; its lock lets one thread at a time ask the database for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.zone: CompiledZone | None = None
        self.asked: datetime | None = None
        self.epoch = 0

    def is_young(self, now: datetime, lifetime: timedelta) -> bool:
        """Return whether the zone was asked for less than a lifetime ago."""
        # A clock set back would make a zone that was asked for in the future live too long.
        return self.asked is not None and self.asked <= now < self.asked + lifetime

    @property
    def size(self) -> int:
        return 1 + (len(self.zone.ads) if self.zone else 0)


class ZoneCache:
    """The zones, creatives, `leases` and `profiles` of one app; two apps share nothing.

    A zone is served for `PLAZA_ZONE_TTL_MS` after it was asked for. Then the rows that changed
    since are read, and the zone is compiled from them and what is held; only if it does not
    remember all changes is it read and compiled as a whole, at most once in that time. The zones
    asked for longest ago make room for others.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.leases = HeldLeases(runtime)
        self.profiles = profile_reader.undecoded(runtime.database)
        self._database = runtime.database
        self._held_ads = runtime.bounds.ads.held_ads
        self._lifetime = timedelta(milliseconds=runtime.settings.zone_ttl_ms)
        self._held: OrderedDict[tuple[str, str], _Held] = OrderedDict()
        self._lock = threading.Lock()
        self._epoch = 0
        self._creative = self._keeping_creatives()

    def zone(self, site_id: str, zone_id: str, now: datetime) -> CompiledZone:
        """Return a zone at most its lifetime old at `now`; raises UnknownZone."""
        key = site_id, zone_id
        with self._lock:
            held = self._held.get(key) or self._held.setdefault(key, _Held())
            self._held.move_to_end(key)
        with held.lock:
            if held.zone is None or not self._is_fresh(held, now):
                self._refresh(key, held, now)
            zone = held.zone
        assert zone is not None  # noqa: S101 - _refresh leaves one, or raises
        return zone

    def _is_fresh(self, held: _Held, now: datetime) -> bool:
        return held.epoch == self._epoch and held.is_young(now, self._lifetime)

    def _refresh(self, key: tuple[str, str], held: _Held, now: datetime) -> None:
        epoch = self._epoch
        try:
            latest = self._latest(key, held, now)
        except UnknownZone:
            with self._lock:
                self._held.pop(key, None)
            raise
        if latest is None:
            return
        if latest is not held.zone:
            held.zone = latest
            self._make_room(key)
        held.asked, held.epoch = now, epoch

    def _latest(self, key: tuple[str, str], held: _Held, now: datetime) -> CompiledZone | None:
        """Return the zone as it is now; None if the one held must do until its time is over.

        That is so if something was changed here that takes a whole compilation: otherwise one
        caller could have the zone compiled at every decision.
        """
        if held.zone is not None:
            document, campaigns = zones.since(self._database, *key, held.zone.version)
            changed = held.zone.changed(document, campaigns)
            if changed is not None:
                return changed
            if held.is_young(now, self._lifetime):
                return None
        return CompiledZone(zones.get_with_ads(self._database, *key))

    def _make_room(self, latest: tuple[str, str]) -> None:
        with self._lock:
            size = sum(held.size for held in self._held.values())
            for key in list(self._held):
                if size <= self._held_ads:
                    return
                if key != latest:
                    size -= self._held.pop(key).size

    def expire(self) -> None:
        """Ask for the changes of every zone before it is served again: one was made here."""
        with self._lock:
            self._epoch += 1

    def creative(self, creative_id: str) -> StoredCreative | None:
        """Return a large creative, or None if a change has just removed it.

        Its id is made of what it holds, so one that is kept never goes stale.
        """
        try:
            return self._creative(creative_id)
        except LookupError:
            return None

    def _keeping_creatives(self) -> Callable[[str], StoredCreative]:
        @lru_cache(maxsize=MAX_CREATIVES_HELD)
        def find(creative_id: str) -> StoredCreative:
            found = creatives.find(self._database, creative_id)
            if found is None:
                # What is raised is not kept: it may be there the next time.
                raise LookupError(creative_id)
            return found

        return find
