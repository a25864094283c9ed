"""Cost of the four logs and the two layouts, each beside the driver's own write."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from pymongo import WriteConcern

from bench.case import Case
from bench.hits import Source, site
from chalicelib.analytics.hits import DAY, StoredHit, day_of
from chalicelib.analytics.logs.choosing import NAMES, log_of
from chalicelib.analytics.logs.log import Span
from chalicelib.analytics.reports.layouts import LAYOUTS
from chalicelib.analytics.settings import LayoutName, LogName
from chalicelib.runtime import Runtime

BATCH = 500
RAW = "bench.raw_hit"
CONCERNS: Final = {
    "w: 0": WriteConcern(0),
    "w: 1": WriteConcern(1),
    "journaled": WriteConcern(1, j=True),
    "majority": WriteConcern("majority"),
}
# A day that is past whatever a site keeps; hits that are forgotten at once.
_LONG_AGO, _FORGOTTEN = 4_000 * DAY, 2_000


def groups(runtime: Runtime) -> Iterator[list[Case]]:
    """Yield writes to each log, by concern too, forgetting, reads, and writes to each layout."""
    yield [Logging(runtime, name).case() for name in NAMES]
    yield [_by_concern(runtime, name) for name in CONCERNS]
    yield [Forgetting(runtime, name).case() for name in NAMES if name != "capped"]
    yield [case for name in NAMES for case in _read(runtime, name)]
    yield [case for layout in LAYOUTS for case in Filling(runtime, layout).cases()]


class Logging:
    """Batches of hits into one log; the floor is `insert_many` into a collection without any."""

    def __init__(self, runtime: Runtime, name: LogName) -> None:
        whose = f"log-{name}"
        self._log = log_of(runtime.database, name, {whose: site(runtime, whose, name)})
        self._raw: Any = runtime.database[RAW]
        # Ten days, of which the rotating log has a collection each.
        start = day_of(runtime.now()) - 10 * DAY
        self._log.prepare([start + day * DAY for day in range(10)])
        self._source = Source(whose, start, 10 * 86_400)
        self._hits: list[StoredHit] = []

    def case(self) -> Case:
        """Return the case of one batch."""
        return Case(
            "a batch into the log",
            lambda: self._log.append(self._hits),
            lambda: self._raw.insert_many(self._hits),
            floor_is="insert_many without an index",
            store=self._log.name,
            size=BATCH,
            unit="hits",
            items=BATCH,
            door="function",
            prepare=self._next,
            prepare_floor=self._next,
        )

    def _next(self) -> None:
        self._hits = self._source.rows(BATCH)


def _by_concern(runtime: Runtime, name: str) -> Case:
    """Give a batch that is inserted with a write concern; the floor waits for the majority."""
    rows: Any = runtime.database[f"{RAW}.concern"]
    source = Source(f"concern-{name}", day_of(runtime.now()), 86_400)
    hits: list[StoredHit] = []

    def prepare() -> None:
        hits[:] = source.rows(BATCH)

    return Case(
        "insert_many of a batch",
        lambda: rows.with_options(write_concern=CONCERNS[name]).insert_many(hits),
        lambda: rows.with_options(write_concern=CONCERNS["majority"]).insert_many(hits),
        floor_is="insert_many with majority",
        store=name,
        size=BATCH,
        unit="hits",
        items=BATCH,
        door="function",
        prepare=prepare,
        prepare_floor=prepare,
    )


class Forgetting:
    """All that a log has of a day, or of a site where it forgets hit by hit."""

    def __init__(self, runtime: Runtime, name: LogName) -> None:
        whose = f"forgotten-{name}"
        self._runtime, self._whose = runtime, whose
        self._log = log_of(runtime.database, name, {whose: site(runtime, whose, name)})
        # The server itself would delete from the others what is long ago.
        ago = _LONG_AGO if name == "rotating" else DAY
        self._day: datetime = day_of(runtime.now()) - ago
        self._source = Source(whose, self._day, 86_400)

    def case(self) -> Case:
        """Return the case of forgetting."""
        return Case(
            "hits forgotten",
            self._forget,
            store=self._log.name,
            size=_FORGOTTEN,
            unit="hits",
            items=_FORGOTTEN,
            door="function",
            prepare=self._fill,
            samples_at_most=20,
        )

    def _fill(self) -> None:
        self._log.prepare([self._day])
        for _ in range(_FORGOTTEN // BATCH):
            self._log.append(self._source.rows(BATCH))

    def _forget(self) -> None:
        if self._log.name == "rotating":
            self._log.trim(self._runtime.now())
        else:
            self._log.remove(self._whose)


def _read(runtime: Runtime, name: LogName) -> Iterator[Case]:
    """Give the read of one path's day, and of one page of a site's."""
    whose = f"read-{name}"
    log = log_of(runtime.database, name, {whose: site(runtime, whose, name)})
    start = day_of(runtime.now()) - 10 * DAY
    log.prepare([start + day * DAY for day in range(10)])
    source = Source(whose, start, 10 * 86_400)
    for _ in range(40):
        log.append(source.rows(BATCH))
    size = log.size(whose)
    each = size["bytes"] / size["hits"], size["index_bytes"] / size["hits"]
    print(f"{name}: {each[0]:.0f} bytes of data and {each[1]:.0f} of indexes a hit")
    span = Span(whose, start, start + DAY)
    for title, path in (("one path's day", "/articles/3"), ("50 hits of a site", None)):
        yield Case(
            title,
            lambda path=path: log.read(span._replace(path=path), None, 50),  # type: ignore[misc]
            store=name,
            size=20_000,
            unit="hits",
            door="function",
        )


class Filling:
    """One hit added to a full document, at the day's first minute and at its last."""

    def __init__(self, runtime: Runtime, layout: LayoutName) -> None:
        self._layout = LAYOUTS[layout]
        self._rows = runtime.database["bench.layout"]
        self._id = f"full-{layout}"
        counts = {path: 1 for minute in range(1_440) for path in self._layout.paths(minute)}
        self._rows.update_one({"_id": self._id}, {"$inc": counts}, upsert=True)
        self._rows.update_one({"_id": "empty"}, {"$inc": {"hits": 1}}, upsert=True)

    def cases(self) -> Iterator[Case]:
        """Give the cases of the two minutes."""
        for minute in (0, 1_439):
            change = {"$inc": dict.fromkeys(self._layout.paths(minute), 1)}
            yield Case(
                f"a hit at minute {minute}",
                lambda change=change: self._rows.update_one({"_id": self._id}, change),  # type: ignore[misc]
                lambda: self._rows.update_one({"_id": "empty"}, {"$inc": {"hits": 1}}),
                floor_is="$inc of one field of a small document",
                store=self._layout.name,
                size=1_440,
                unit="minutes in the document",
                door="function",
            )
