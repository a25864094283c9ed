"""Late names: their first hits count as `*other*`, and follow after the names' admission.

The log identifies the hits. Its hits of a name beyond the name's own counts are in `*other*`, and
move over in one transaction. A repeat moves nothing. The visitors of `*other*` stay as long as it
has hits: they may have read other pages of it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.analytics import settings
from chalicelib.analytics.hits import DAY, FIELD_OF, Dimension, StoredHit
from chalicelib.analytics.logs import receipts, together
from chalicelib.analytics.logs.log import Log, Span
from chalicelib.analytics.reports import people
from chalicelib.analytics.reports.days import (
    DAYS,
    QUARTER_MINUTES,
    SOURCES,
    CountedField,
    Minutes,
    Place,
    Subject,
    field_of,
    increments,
    name_of,
)
from chalicelib.analytics.reports.layouts import LAYOUTS, Layout
from chalicelib.analytics.settings import SiteAnalytics, kept_since
from chalicelib.database import Collection, Document, in_transaction
from chalicelib.runtime import Runtime

# Longer than a worker's transaction, its retries and the time between two clocks. After it, no
# worker counts a hit of the name as `*other*` any more.
GRACE = timedelta(seconds=90)
_NAMES_AT_ONCE = 100
_FIELDS: tuple[CountedField, ...] = ("hits", "bots", "feeds")
# The count of each field, by the minute of the day.
Cells = dict[CountedField, Counter[int]]


class LateName(TypedDict):
    """A name whose earlier hits have to follow; `_id` is `site/day/…/name`."""

    _id: str
    site: str
    day: datetime
    dimension: NotRequired[Dimension]
    value: str
    at: datetime


LATE = Collection(
    "hit.late",
    LateName,
    indexes=(IndexModel([("at", ASCENDING)]),),
    shard_key={"site": 1, "day": 1},
)


class _Of(NamedTuple):
    site: str
    dimension: Dimension | None
    day: datetime


def note_late(
    database: Database[Document], session: ClientSession, places: Sequence[Place], now: datetime
) -> None:
    """Note late names, in the transaction that admits them."""
    if not places:
        return
    writes = []
    for place in places:
        _, dimension, value = place.subject
        of = {} if dimension is None else {"dimension": dimension}
        fields = {**of, "value": value, "at": now}
        writes.append(UpdateOne(_key(place), {"$set": fields}, upsert=True))
    LATE.of(database).bulk_write(writes, ordered=False, session=session)


def follow(runtime: Runtime) -> int:
    """Move the hits of late names, up to a run's bound; return the number of names.

    A name with a new hit at the same moment waits, and so do the names of a site in a move.
    """
    database, now = runtime.database, runtime.now()
    due: Any = LATE.of(database).find({"at": {"$lte": now - GRACE}}).sort("at", ASCENDING)
    groups: dict[_Of, list[str]] = {}
    for row in due.limit(runtime.bounds.analytics.late_in_a_run):
        of = _Of(row["site"], row.get("dimension"), row["day"])
        groups.setdefault(of, []).append(row["value"])
    followed = 0
    for of, names in groups.items():
        site = settings.find(database, of.site)
        logs = together.logs_of(database, site) if site else []
        if site is None or of.day < kept_since(site, now):
            _forget(database, of, names)
            continue
        # Names that fail to follow now wait behind the others.
        postponed = {"$set": {"at": now}}
        LATE.of(database).update_many(_ids(of, names), postponed)
        if len(logs) == 1:
            for first in range(0, len(names), _NAMES_AT_ONCE):
                some = names[first : first + _NAMES_AT_ONCE]
                followed += _follow(runtime, site, logs[0], of, some)
    return followed


def _follow(runtime: Runtime, site: SiteAnalytics, log: Log, of: _Of, names: Sequence[str]) -> int:
    """Move hits of some names of a day; return the number of moved names."""
    database = runtime.database
    places = [Place(Subject(of.site, of.dimension, name), of.day) for name in names]
    before = {place: _sum(_rows(database, place)) for place in places}
    hits = _hits(database, log, of, names)
    followed = 0
    for place in places:
        late = _Late(place, hits.get(place.subject.value, []), before[place])
        work = partial(_move, database, LAYOUTS[site["layout"]], late)
        followed += in_transaction(database, work)
    return followed


class _Late(NamedTuple):
    """A late name, its hits in the log, and the number of hits in its reports before."""

    place: Place
    hits: Sequence[StoredHit]
    before: int


def _hits(
    database: Database[Document], log: Log, of: _Of, names: Sequence[str]
) -> dict[str, list[StoredHit]]:
    """Return the counted hits by name; a log may also have uncounted hits."""
    field = "path" if of.dimension is None else FIELD_OF[of.dimension]
    # Reports of sources count views alone.
    views = {} if of.dimension is None else {"kind": "view"}
    stages: list[Document] = [
        {"$match": {field: {"$in": list(names)}, **views}},
        {"$project": {"ts": 1, "kind": 1, "visitor": 1, field: 1}},
    ]
    found = list(log.aggregate(Span(of.site, of.day, of.day + DAY), stages))
    left = set() if log.is_transactional else receipts.waiting(database, found)
    by_name: dict[str, list[StoredHit]] = {}
    for hit in found:
        if hit["_id"] not in left:
            by_name.setdefault(hit[field], []).append(hit)
    return by_name


def _move(
    database: Database[Document], layout: Layout, late: _Late, session: ClientSession
) -> bool:
    """Move the log's hits beyond the name's counts; not if the counts have changed meanwhile."""
    place, rows = late.place, _collection(late.place).of(database)
    mine = _rows(database, place, session)
    if _sum(mine) != late.before:
        return False
    missing = _missing(late.hits, mine)
    taken: dict[CountedField, Minutes] = {field: {} for field in _FIELDS}
    writes = []
    others = _rows(database, place.other(), session)
    for row in others:
        change = _take(row, missing, taken)
        if change:
            writes.append(UpdateOne(_this(row), {"$inc": change}))
    # A name removed meanwhile has no document, and no hits in the log.
    if writes and mine:
        taken["visitors"] = people.follow(database, session, place, late.hits)
        counted = {field: minutes for field, minutes in taken.items() if minutes}
        writes.append(UpdateOne(_this(mine[0]), {"$inc": increments(counted, layout)}))
        rows.bulk_write(writes, ordered=False, session=session)
        if _sum(others) == sum(sum(taken[field].values()) for field in _FIELDS):
            rows.delete_many(_filter(place.other()), session=session)
    LATE.of(database).delete_one(_key(place), session=session)
    return True


def _missing(hits: Iterable[StoredHit], mine: Iterable[Any]) -> Cells:
    """Return the hits beyond a name's own counts: views by the minute, other hits by quarter."""
    missing: Cells = {field: Counter() for field in _FIELDS}
    for hit in hits:
        field, minute = field_of(hit), 60 * hit["ts"].hour + hit["ts"].minute
        step = 1 if field == "hits" else QUARTER_MINUTES
        missing[field][minute // step * step] += 1
    for row in mine:
        for field, minute, number, _ in _cells(row):
            missing[field][minute] -= number
    return missing


def _take(row: Any, missing: Cells, taken: dict[CountedField, Minutes]) -> dict[str, int]:
    """Return the loss of a document of `*other*`: of each cell at most its count."""
    change: Counter[str] = Counter()
    for field, minute, number, parts in _cells(row):
        some = min(number, missing[field][minute])
        if some > 0:
            missing[field][minute] -= some
            taken[field][minute] = taken[field].get(minute, 0) + some
            change.update(dict.fromkeys((field, *parts), -some))
            change["causes.named_later"] += some
    return dict(change)


def _cells(row: Any) -> Iterator[tuple[CountedField, int, int, tuple[str, ...]]]:
    """Yield a document's counts: (field, minute, number, names of the parts)."""
    for layout in LAYOUTS.values():
        for minute, number in layout.hits(row, by_minute=True):
            yield "hits", minute, number, layout.paths(minute)
    for quarter, counts in row.get("quarters", {}).items():
        for field in _FIELDS[1:]:
            if field in counts:
                minute = int(quarter) * QUARTER_MINUTES
                yield field, minute, counts[field], (f"quarters.{quarter}.{field}",)


def _forget(database: Database[Document], of: _Of, names: Iterable[str]) -> None:
    """Forget late names without hits in the log."""
    LATE.of(database).delete_many(_ids(of, names))


def _ids(of: _Of, names: Iterable[str]) -> Document:
    """Return the filter of late names."""
    ids = [name_of(Place(Subject(of.site, of.dimension, name), of.day), 0) for name in names]
    return {"site": of.site, "day": of.day, "_id": {"$in": ids}}


def _key(place: Place) -> Document:
    return {"_id": name_of(place, 0), "site": place.subject.site, "day": place.day}


def _collection(place: Place) -> Collection[Any]:
    return DAYS if place.subject.dimension is None else SOURCES


def _filter(place: Place) -> Document:
    (site, dimension, value), day = place
    if dimension is None:
        return {"site": site, "path": value, "day": day}
    return {"site": site, "dimension": dimension, "day": day, "value": value}


def _this(row: Any) -> Document:
    key = ("_id", "site", "path", "dimension", "value", "day")
    return {name: row[name] for name in key if name in row}


def _rows(
    database: Database[Document], place: Place, session: ClientSession | None = None
) -> list[Any]:
    return list(_collection(place).of(database).find(_filter(place), session=session))


def _sum(rows: Iterable[Any]) -> int:
    return sum(row.get(field, 0) for row in rows for field in _FIELDS)
