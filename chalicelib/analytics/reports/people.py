"""Visitors of a day: who is new to the site, to a page and to a source; and who is there now."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Annotated, NamedTuple, TypedDict

from pymongo import ASCENDING, IndexModel, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.analytics.reports.days import Counted, Place, Placed, Subject
from chalicelib.bounds import AnalyticsBounds
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost

# From the beginning of the day; hits that come later than two days have no visitor.
KEPT = timedelta(days=4)
# How long a visitor counts as there without another note of it.
RENEWED_AFTER = timedelta(seconds=30)
# What is remembered of one visitor of one day. Pages beyond it count their hits, and no visitor.
MAX_SUBJECTS = 500
_DIGEST_BYTES = 6


class StoredVisitor(TypedDict):
    """A visitor of a day, `_id` is `site:day:visitor`; `seen` are digests of what they were on."""

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
        # The day and not the last time, which each hit would move in the index.
        IndexModel([("day", ASCENDING)], expireAfterSeconds=int(KEPT.total_seconds())),
    ),
    shard_key={"_id": "hashed"},
)


class Noted(NamedTuple):
    """What is known of a visitor of a day: when they were there last, and on what."""

    last: datetime
    seen: set[int]


class Met(NamedTuple):
    """One visitor within a batch: what they were on, and from when on."""

    site: str
    day: datetime
    places: dict[int, tuple[Place, datetime]]
    times: list[datetime]


class Visitors:
    """The visitors that a container has noted: a page that one reads again costs no write."""

    def __init__(self, database: Database[Document], bounds: AnalyticsBounds) -> None:
        self._database = database
        self._bounds = bounds
        self._known: dict[str, Noted] = {}

    def remember(self, noted: Mapping[str, Noted]) -> None:
        """Remember what was noted, once its transaction has committed."""
        if len(self._known) > self._bounds.visitors_remembered:
            self._known.clear()
        self._known.update(noted)

    def note(
        self, session: ClientSession, placed: Sequence[Placed]
    ) -> tuple[list[Counted], dict[str, Noted]]:
        """Note visitors in the caller's transaction; return what each is new to, and what is noted.

        When one was there last is noted anew after half a minute.
        """
        met = {
            name: one for name, one in _by_visitor(placed).items() if not self._is_known(name, one)
        }
        if not met:
            return [], {}
        rows = VISITORS.of(self._database)
        found = rows.find({"_id": {"$in": list(met)}}, {"seen": 1, "last": 1}, session=session)
        before = {row["_id"]: Noted(row["last"], set(row["seen"])) for row in found}
        counted: list[Counted] = []
        operations, noted = [], {}
        for name, one in met.items():
            last = max(one.times)
            old = before.get(name, Noted(last, set()))
            room = max(MAX_SUBJECTS - len(old.seen), 0)
            new = [key for key in one.places if key not in old.seen][:room]
            counted += [(*one.places[key], "visitors") for key in new]
            noted[name] = Noted(max(old.last, last), old.seen.union(one.places))
            # Nobody else adds to them in between: the transaction would not commit.
            pushed = {"$push": {"seen": {"$each": new}}} if new else {}
            fixed = {"site": one.site, "day": one.day}
            change = {"$max": {"last": last}, "$setOnInsert": fixed, **pushed}
            operations.append(UpdateOne({"_id": name}, change, upsert=True))
        rows.bulk_write(operations, ordered=False, session=session)
        return counted, noted

    def _is_known(self, name: str, met: Met) -> bool:
        known = self._known.get(name)
        if known is None or max(met.times) > known.last + RENEWED_AFTER:
            return False
        return met.places.keys() <= known.seen


def _by_visitor(placed: Sequence[Placed]) -> dict[str, Met]:
    found: dict[str, Met] = {}
    for hit, places in placed:
        if hit["kind"] != "view" or "visitor" not in hit:
            continue
        ts, day = hit["ts"], places[0].day
        name = f"{hit['site']}:{day:%Y%m%d}:{hit['visitor']}"
        met = found.get(name)
        if met is None:
            met = found[name] = Met(hit["site"], day, {}, [])
        met.times.append(ts)
        for place in places:
            key = digest(place.subject)
            first = met.places.get(key)
            if first is None or ts < first[1]:
                met.places[key] = (place, ts)
    return found


@lru_cache(maxsize=50_000)
def digest(subject: Subject) -> int:
    """Return a number that tells one subject of a site from another."""
    text = f"{subject.dimension or ''}\0{subject.value}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=_DIGEST_BYTES).digest())


def present(database: Database[Document], site: str, since: datetime) -> int:
    """Return how many visitors a site has had since an instant."""
    return VISITORS.of(database).count_documents({"site": site, "last": {"$gte": since}})
