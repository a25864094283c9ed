"""Late names: hits before a name's admission count as `*other*`, and later move to the name.

The log shows the number of these hits: its hits of a name, less the name's own counts, are in
`*other*`. One transaction moves them, and a repeat moves nothing. The visitors of `*other*` stay as
long as it has hits: they may have read its other pages.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.analytics import settings
from chalicelib.analytics.hits import DAY, FIELD_OF, OTHER, Dimension
from chalicelib.analytics.logs import receipts, together
from chalicelib.analytics.logs.log import Log, Span
from chalicelib.analytics.reports import people
from chalicelib.analytics.reports.days import (
    DAYS,
    QUARTER_MINUTES,
    SOURCES,
    CountedField,
    DayKey,
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

# Longer than a worker's transaction, its retries and the skew of two clocks. Once this time has
# passed since a name's admission, no worker counts a hit of the name as `*other*`.
GRACE = timedelta(seconds=90)
_NAMES_AT_ONCE = 100
_HITS_AT_ONCE = 10_000
_FIELDS: tuple[CountedField, ...] = ("hits", "bots", "feeds")
# The count of each field, by the minute of the day.
Cells = dict[CountedField, Counter[int]]


class LateName(TypedDict):
    """A name with earlier hits in `*other*`; `_id` is the id of its first shard (`name_of`).

    `at`: the time of the name's admission, or of the last run that tried to move its hits.
    """

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
    """Move the hits of due late names, up to a run's bound; return the number of moved names.

    A name waits for a later run if a hit has changed the counts that this run read, or if its site
    has two logs during a move.
    """
    database, now = runtime.database, runtime.now()
    followed = 0
    groups = _find_due(runtime, now)
    for of, names in groups.items():
        site = settings.find(database, of.site)
        logs = together.logs_of(database, site) if site else []
        if site is None or of.day < kept_since(site, now):
            _forget(database, of, names)
            continue
        # A name that does not move in this run goes behind the other names.
        postponed = {"$set": {"at": now}}
        LATE.of(database).update_many(_ids(of, names), postponed)
        if not _sum(_rows(database, Place(Subject(of.site, of.dimension, OTHER), of.day))):
            # `*other*` is empty, and no worker adds hits of these names: nothing is left to move.
            _forget(database, of, names, since=now)
        elif len(logs) == 1:
            for first in range(0, len(names), _NAMES_AT_ONCE):
                some = dict(list(names.items())[first : first + _NAMES_AT_ONCE])
                followed += _follow(runtime, site, logs[0], of, some)
    return followed


def _find_due(runtime: Runtime, now: datetime) -> dict[DayKey, dict[str, int]]:
    """Return due names by day, each with the last minute that may have hits in `*other*`.

    A worker counts a hit after the hit's time, so all hits of later minutes count for the name.
    A busy name gets such hits all the time; they do not disturb the move.
    """
    due: Any = LATE.of(runtime.database).find({"at": {"$lte": now - GRACE}}).sort("at", ASCENDING)
    groups: dict[DayKey, dict[str, int]] = {}
    for row in due.limit(runtime.bounds.analytics.late_in_a_run):
        of = DayKey(row["site"], row.get("dimension"), row["day"])
        last = (row["at"] + GRACE - row["day"]) // timedelta(minutes=1)
        groups.setdefault(of, {})[row["value"]] = last
    return groups


def _follow(
    runtime: Runtime, site: SiteAnalytics, log: Log, of: DayKey, names: Mapping[str, int]
) -> int:
    """Move hits of a day's names, each up to its last minute; return the number of moved names."""
    database = runtime.database
    places = {name: Place(Subject(of.site, of.dimension, name), of.day) for name in names}
    before = {name: _own(_rows(database, places[name]), last) for name, last in names.items()}
    counts = _counts(database, log, of, names)
    followed, now = 0, runtime.now()
    complete: list[str] = []
    for name, last in names.items():
        missing = _missing(counts[name], before[name])
        if not any(missing.values()):
            complete.append(name)
            continue
        visits = _first_visits(database, log, of, name, last) if missing["hits"] else {}
        late = _Late(places[name], last, counts[name], before[name], visits)
        work = partial(_move, database, LAYOUTS[site["layout"]], late)
        followed += in_transaction(database, work)
    _forget(database, of, complete, since=now)
    return followed


class _Late(NamedTuple):
    """A late name up to its last minute.

    counts: its hits in the log. before: its own counts, read before the log. visits: the first time
    of each visitor.
    """

    place: Place
    last: int
    counts: Cells
    before: Cells
    visits: Mapping[str, datetime]


def _counts(
    database: Database[Document], log: Log, of: DayKey, names: Mapping[str, int]
) -> dict[str, Cells]:
    """Return the log's counted hits of each name up to its last minute, by field and minute.

    A busy name may have a million hits a day. So the server groups the hits of a transactional
    log; hits of another log come as a stream.
    """
    found: dict[str, Cells] = {name: _empty() for name in names}
    stages = _stages(of, list(names))
    span = _span(of, max(names.values()) // QUARTER_MINUTES * QUARTER_MINUTES + QUARTER_MINUTES)
    if log.is_transactional:
        alike = {name: f"${name}" for name in ("name", "kind", "minute")}
        stages.append({"$group": {"_id": alike, "number": {"$sum": 1}}})
        stages.append({"$replaceWith": {"$mergeObjects": ["$_id", {"number": "$number"}]}})
    for hit in _read(database, log, span, stages):
        field, last = field_of(hit), names[hit["name"]]
        minute = _cell_of(field, hit["minute"])
        if minute <= last:
            found[hit["name"]][field][minute] += hit.get("number", 1)
    return found


def _first_visits(
    database: Database[Document], log: Log, of: DayKey, name: str, last: int
) -> dict[str, datetime]:
    """Return the first time of each visitor of a name, up to its last minute."""
    first: dict[str, datetime] = {}
    views: Document = {"$match": {"kind": "view", "visitor": {"$exists": True}}}
    for hit in _read(database, log, _span(of, last + 1), [views, *_stages(of, [name])]):
        first[hit["visitor"]] = min(hit["ts"], first.get(hit["visitor"], hit["ts"]))
    return first


def _span(of: DayKey, end: int) -> Span:
    """Return the span from the start of a day to a minute, exclusive."""
    return Span(of.site, of.day, of.day + min(DAY, timedelta(minutes=end)))


def _stages(of: DayKey, names: Sequence[str]) -> list[Document]:
    """Return the stages that find the hits of names, each with its name and minute."""
    field = "path" if of.dimension is None else FIELD_OF[of.dimension]
    # Reports of sources count views alone.
    views = {} if of.dimension is None else {"kind": "view"}
    minute = {"$add": [{"$multiply": [60, {"$hour": "$ts"}]}, {"$minute": "$ts"}]}
    shown = {"ts": 1, "kind": 1, "visitor": 1, "name": f"${field}", "minute": minute}
    return [{"$match": {field: {"$in": names}, **views}}, {"$project": shown}]


def _read(
    database: Database[Document], log: Log, span: Span, stages: Sequence[Document]
) -> Iterator[Any]:
    """Yield the results of the stages for counted hits.

    A log without transactions may also have uncounted hits; their receipts show them.
    """
    found = log.aggregate(span, stages)
    if log.is_transactional:
        yield from found
        return
    while some := list(itertools.islice(found, _HITS_AT_ONCE)):
        left = receipts.waiting(database, some)
        yield from (hit for hit in some if hit["_id"] not in left)


def _move(
    database: Database[Document], layout: Layout, late: _Late, session: ClientSession
) -> bool:
    """Move a name's missing hits out of `*other*`; False if the name's counts have changed."""
    place, rows = late.place, _collection(late.place).of(database)
    mine = _rows(database, place, session)
    if _own(mine, late.last) != late.before:
        return False
    missing = _missing(late.counts, late.before)
    taken: dict[CountedField, Minutes] = {field: {} for field in _FIELDS}
    writes = []
    others = _rows(database, place.other(), session)
    for row in others:
        change = _take(row, missing, taken)
        if change:
            writes.append(UpdateOne(_this(row), {"$inc": change}))
    # A name removed meanwhile has no document, and no hits in the log.
    if writes and mine:
        taken["visitors"] = people.follow(database, session, place, late.visits)
        counted = {field: minutes for field, minutes in taken.items() if minutes}
        writes.append(UpdateOne(_this(mine[0]), {"$inc": increments(counted, layout)}))
        rows.bulk_write(writes, ordered=False, session=session)
        if _sum(others) == sum(sum(taken[field].values()) for field in _FIELDS):
            rows.delete_many(_filter(place.other()), session=session)
    LATE.of(database).delete_one(_key(place), session=session)
    return True


def _own(rows: Iterable[Any], last: int) -> Cells:
    """Return the counts of documents up to a minute."""
    own = _empty()
    for row in rows:
        for field, minute, number, _ in _cells(row):
            if minute <= last:
                own[field][minute] += number
    return own


def _missing(counts: Cells, own: Cells) -> Cells:
    """Return the positive differences of the log's counts and the name's own counts."""
    return {field: counts[field] - own[field] for field in _FIELDS}


def _empty() -> Cells:
    return {field: Counter() for field in _FIELDS}


def _cell_of(field: CountedField, minute: int) -> int:
    """Return the first minute of a cell: views count by the minute, other hits by the quarter."""
    step = 1 if field == "hits" else QUARTER_MINUTES
    return minute // step * step


def _take(row: Any, missing: Cells, taken: dict[CountedField, Minutes]) -> dict[str, int]:
    """Return the `$inc` that takes missing hits out of a document of `*other*`.

    A cell loses at most its count. The function moves the numbers from `missing` to `taken`.
    """
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


def _forget(
    database: Database[Document],
    of: DayKey,
    names: Iterable[str],
    since: datetime | None = None,
) -> None:
    """Delete late names; with `since`, not names that a worker has noted again after it."""
    noted: Document = {} if since is None else {"at": {"$lte": since}}
    LATE.of(database).delete_many({**_ids(of, names), **noted})


def _ids(of: DayKey, names: Iterable[str]) -> Document:
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
