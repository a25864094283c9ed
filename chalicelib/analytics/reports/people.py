"""Visitors of a day: new visitors of the site, of a page and of a source, and present visitors."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated, Any, NamedTuple, TypedDict

from pymongo import ASCENDING, IndexModel, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.analytics.hits import OTHER, day_of
from chalicelib.analytics.logs import together
from chalicelib.analytics.logs.log import Log, Span
from chalicelib.analytics.reports.days import DAYS, Group, Minutes, Place, Subject
from chalicelib.bounds import AnalyticsBounds
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.instants import MILLISECOND

# From the beginning of the day; hits more than two days late have no visitor.
KEPT = timedelta(days=4)
# Within this time after a visitor's last noted hit, a repeated read of a page writes nothing.
RENEWED_AFTER = timedelta(seconds=30)
# The most subjects of a visitor on a day; further subjects count the hits and no visitor.
MAX_SUBJECTS = 500
# This field exists only if a visitor has MAX_SUBJECTS.
_LAST_SEEN = f"seen.{MAX_SUBJECTS - 1}"
_DIGEST_BYTES = 6
# The ids in one command, far below its limit of bytes.
_FOLLOWED_AT_ONCE = 10_000


class StoredVisitor(TypedDict):
    """A visitor of a day; `_id` is `site:day:visitor`, and `seen` has digests of subjects."""

    _id: str
    site: str
    day: datetime
    last: datetime
    seen: Annotated[list[int], AtMost(MAX_SUBJECTS + 100)]


VISITORS = Collection(
    "hit.visitor",
    StoredVisitor,
    indexes=(
        IndexModel([("site", ASCENDING), ("last", ASCENDING)]),
        # By `day` and not by `last`: a change of `last` would move the visitor in this index too.
        IndexModel([("day", ASCENDING)], expireAfterSeconds=int(KEPT.total_seconds())),
    ),
    shard_key={"_id": "hashed"},
)


class Noted(NamedTuple):
    """The time of a visitor's last hit on a day, and the digests of the visitor's subjects."""

    last: datetime
    seen: set[int]


class BatchVisitor:
    """One visitor within a batch: their places, each with its first time, and the last time."""

    __slots__ = ("day", "last", "places", "site")

    def __init__(self, place: Place, ts: datetime) -> None:
        self.site, self.day, self.last = place.subject.site, place.day, ts
        self.places: dict[int, tuple[Place, datetime]] = {}


class Visitors:
    """A container's memory of visitors; it saves the write if a visitor soon repeats a page."""

    def __init__(self, database: Database[Document], bounds: AnalyticsBounds) -> None:
        self._database = database
        self._bounds = bounds
        self._known: dict[str, Noted] = {}

    def remember(self, noted: Mapping[str, Noted]) -> None:
        """Remember noted visitors, after the commit of their transaction."""
        if len(self._known) > self._bounds.visitors_remembered:
            self._known.clear()
        self._known.update(noted)

    def note(
        self, session: ClientSession, groups: Iterable[Group]
    ) -> tuple[list[tuple[Place, datetime]], dict[str, Noted]]:
        """Note visitors in the caller's transaction.

        Returns a (place, time) for each new visitor of a place, and the notes by visitor for
        `remember`. For a remembered visitor, a repeat within RENEWED_AFTER writes nothing.
        """
        met = self._met(groups)
        if not met:
            return [], {}
        rows = VISITORS.of(self._database)
        found = rows.find({"_id": {"$in": list(met)}}, {"seen": 1, "last": 1}, session=session)
        # In one batch: a cursor's first batch has only 101 rows by default.
        found.batch_size(len(met) + 1)
        before = {row["_id"]: Noted(row["last"], set(row["seen"])) for row in found}
        new: list[tuple[Place, datetime]] = []
        operations, noted = [], {}
        for name, one in met.items():
            old = before.get(name, Noted(one.last, set()))
            room = max(MAX_SUBJECTS - len(old.seen), 0)
            keys = [key for key in one.places if key not in old.seen][:room]
            new += [one.places[key] for key in keys]
            noted[name] = Noted(max(old.last, one.last), old.seen.union(one.places))
            if name not in before or keys or one.last > old.last:
                operations.append(_noting(name, one, keys))
        if operations:
            rows.bulk_write(operations, ordered=False, session=session)
        return new, noted

    def _met(self, groups: Iterable[Group]) -> dict[str, BatchVisitor]:
        """Return the visitors of a batch, without hits that change nothing."""
        found: dict[str, BatchVisitor] = {}
        for group in groups:
            first_place = group.places[0]
            keyed = {digest(place.subject): place for place in group.places}
            whose = f"{first_place.subject.site}:{first_place.day:%Y%m%d}:"
            for visitor, ts in group.visits:
                name = whose + visitor
                known = self._known.get(name)
                if known and ts <= known.last + RENEWED_AFTER and known.seen.issuperset(keyed):
                    continue
                met = found.get(name)
                if met is None:
                    met = found[name] = BatchVisitor(first_place, ts)
                elif ts > met.last:
                    met.last = ts
                for key, place in keyed.items():
                    first = met.places.get(key)
                    if first is None or ts < first[1]:
                        met.places[key] = (place, ts)
        return found


def follow(
    database: Database[Document],
    session: ClientSession,
    place: Place,
    first: Mapping[str, datetime],
) -> Minutes:
    """Note visitors of a place by their first times; return the number of new ones by minute."""
    key, rows = digest(place.subject), VISITORS.of(database)
    whose = f"{place.subject.site}:{place.day:%Y%m%d}:"
    lacking = {"seen": {"$ne": key}, _LAST_SEEN: {"$exists": False}}
    minutes: Minutes = {}
    names = list(first)
    for start in range(0, len(names), _FOLLOWED_AT_ONCE):
        some = [whose + name for name in names[start : start + _FOLLOWED_AT_ONCE]]
        new = {"_id": {"$in": some}, **lacking}
        found = [row["_id"] for row in rows.find(new, {"_id": 1}, session=session)]
        if found:
            rows.update_many({"_id": {"$in": found}}, {"$push": {"seen": key}}, session=session)
        for name in found:
            ts = first[name.removeprefix(whose)]
            minute = 60 * ts.hour + ts.minute
            minutes[minute] = minutes.get(minute, 0) + 1
    return minutes


def _noting(name: str, met: BatchVisitor, keys: Sequence[int]) -> UpdateOne:
    """Return the write of a visitor; simultaneous transactions of one visitor conflict in it."""
    pushed = {"$push": {"seen": {"$each": keys}}} if keys else {}
    fixed = {"site": met.site, "day": met.day}
    change = {"$max": {"last": met.last}, "$setOnInsert": fixed, **pushed}
    return UpdateOne({"_id": name}, change, upsert=True)


@lru_cache(maxsize=50_000)
def digest(subject: Subject) -> int:
    """Return a number of 48 bits that identifies a subject within its site."""
    text = f"{subject.dimension or ''}\0{subject.value}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=_DIGEST_BYTES).digest())


def present(database: Database[Document], site: str, since: datetime) -> int:
    """Return the number of a site's visitors since an instant."""
    return VISITORS.of(database).count_documents({"site": site, "last": {"$gte": since}})


LATELY = timedelta(minutes=5)
MAX_PATHS = 50
_LOOKED_AT = 1_000


class Now(NamedTuple):
    """The visitors of the last five minutes, and the views of each path, the most viewed first."""

    visitors: int
    paths: list[tuple[str, int]]


def look_now(database: Database[Document], logs: Sequence[Log], site: str, now: datetime) -> Now:
    """Return the visitors and views of a site in the last five minutes."""
    since = now - LATELY
    # The end is exclusive: one millisecond more includes the hits of `now`.
    span = Span(site, since, now + MILLISECOND)
    hits = _name_paths(database, span, _hits(logs, span))
    most = sorted(hits.items(), key=lambda item: (-item[1], item[0]))[:MAX_PATHS]
    return Now(present(database, site, since), most)


def _name_paths(database: Database[Document], span: Span, hits: Counter[str]) -> Counter[str]:
    """Return the views of paths with rows in reports; all other views as `*other*`.

    Otherwise a stranger's invented paths would push out real pages. The function looks up only the
    1,000 most viewed paths.
    """
    most = [path for path, _ in hits.most_common(_LOOKED_AT)]
    days = sorted({day_of(span.start), day_of(span.end)})
    rows: Any = DAYS.of(database)
    where = {"site": span.site, "day": {"$in": days}, "path": {"$in": most}}
    named = {row["path"] for row in rows.find(where, {"_id": 0, "path": 1})}
    found: Counter[str] = Counter()
    for path, number in hits.items():
        found[path if path in named else OTHER] += number
    return found


def _hits(logs: Sequence[Log], span: Span) -> Counter[str]:
    """Return the views of each path; during a move, count hit by hit from both logs."""
    if len(logs) > 1:
        return Counter(hit["path"] for hit in together.each(logs, span) if hit["kind"] == "view")
    hits: Counter[str] = Counter()
    stages: list[Document] = [
        {"$match": {"kind": "view"}},
        {"$group": {"_id": "$path", "hits": {"$sum": 1}}},
    ]
    for row in logs[0].aggregate(span, stages):
        hits[row["_id"]] += row["hits"]
    return hits
