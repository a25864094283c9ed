"""The memory of a warm container: compiled zones, large creatives and leases."""

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
from chalicelib.ads.visitors import profiles
from chalicelib.runtime import Runtime

# At most 16 KiB each.
MAX_CREATIVES_HELD = 256


class _Held:
    """A zone's slot in the cache; its lock lets one thread at a time read the zone."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.zone: CompiledZone | None = None
        self.asked: datetime | None = None
        self.epoch = 0

    def is_young(self, now: datetime, lifetime: timedelta) -> bool:
        """Return whether the last read of the zone is less than a lifetime ago."""
        # After a clock was set back, a zone with a read in the future would live too long.
        return self.asked is not None and self.asked <= now < self.asked + lifetime

    @property
    def size(self) -> int:
        return 1 + (len(self.zone.ads) if self.zone else 0)


class ZoneCache:
    """The zones, creatives, `leases` and `profiles` of one app; two apps share nothing.

    A zone lives for `PLAZA_ZONE_TTL_MS` after its read. Then the cache reads the rows that changed
    since, and compiles the zone from them and the rows in memory. If the stored zone does not
    remember all changes, the cache reads and compiles it as a whole, at most once in that time.
    The least recently used zones make room for new zones.
    """

    def __init__(self, runtime: Runtime) -> None:
        self.leases = HeldLeases(runtime)
        self.profiles = profiles.raw_profiles(runtime.database)
        self._database = runtime.database
        self._held_ads = runtime.bounds.ads.held_ads
        self._lifetime = timedelta(milliseconds=runtime.settings.zone_ttl_ms)
        self._held: OrderedDict[tuple[str, str], _Held] = OrderedDict()
        self._lock = threading.Lock()
        self._epoch = 0
        self._creative = self._keeping_creatives()

    def zone(self, site_id: str, zone_id: str, now: datetime) -> CompiledZone:
        """Return a zone, read at most `PLAZA_ZONE_TTL_MS` before `now`; raises UnknownZone."""
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
        """Return the latest zone; None: use the zone in memory until its lifetime ends.

        None means: a change needs a whole compilation, but the zone in memory is still young. An
        immediate compilation would let frequent changes cause a compilation at every decision.
        """
        if held.zone is not None:
            document, campaigns = zones.since(self._database, *key, held.zone.version)
            changed = held.zone.replace_rows(document, campaigns)
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
        """Expire all zones after a change in this container.

        Each zone reads its changes before its next decision.
        """
        with self._lock:
            self._epoch += 1

    def creative(self, creative_id: str) -> StoredCreative | None:
        """Return a large creative; None after its removal.

        Its id contains a digest of its content, so a creative in memory never goes stale.
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
                # `lru_cache` stores no exception: the creative may exist the next time.
                raise LookupError(creative_id)
            return found

        return find
