"""Pre-aggregated reports: one document for each path or source of a site, day and shard.

The path `*` stands for the whole site, and counts a visitor of two pages once. Workers would wait
for each other at a single document, so each batch draws one of several shards. Queries sum the
shards. Workers preallocate nothing: MongoDB no longer moves a growing document. Source: "MongoDB
Applied Design Patterns", ch. 4, pre-aggregated reports.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.analytics.hits import (
    DIMENSIONS,
    FIELD_OF,
    OTHER,
    WHOLE_SITE,
    Dimension,
    StoredHit,
    day_of,
)
from chalicelib.analytics.reports.layouts import Layout
from chalicelib.database import Collection, Document

CountedField = Literal["hits", "visitors", "bots", "feeds"]
COUNTED_FIELDS: Final[tuple[CountedField, ...]] = ("hits", "visitors", "bots", "feeds")
_AS = {"view": "hits", "bot": "bots", "feed": "feeds"}
# Every zone's offset is a multiple of 15 minutes: counts by the quarter of an hour can be summed
# over the days of any zone.
QUARTER_MINUTES = 15


class DayCounts(TypedDict, total=False):
    """The counts of a document; an absent field is 0.

    `minutes` or `hours`, by layout, has the hits; `quarters` has the other counts by quarter hour.
    """

    hits: int
    visitors: int
    bots: int
    feeds: int
    quarters: dict[str, Any]
    minutes: dict[str, int]
    hours: dict[str, Any]
    # The ground of a name's admission; only one shard of the name has it.
    via: str
    # Only in `*other*`: hits by cause; `named_later` counts the hits that have moved to a name.
    causes: dict[str, int]


class StoredDay(DayCounts):
    """A path's counts on a day, in one shard.

    Only the whole site has `updated_at`, the time of the last change, and `dropped`, the faults of
    its beacons.
    """

    _id: str
    site: str
    path: str
    day: datetime
    shard: int
    updated_at: NotRequired[datetime]
    dropped: NotRequired[dict[str, int]]


class StoredSource(DayCounts):
    """A source's counts on a day, in one shard; a source is a dimension's value, such as a host."""

    _id: str
    site: str
    dimension: Dimension
    value: str
    day: datetime
    shard: int


DAYS = Collection(
    "hit.day",
    StoredDay,
    indexes=(
        IndexModel([("site", ASCENDING), ("day", ASCENDING), ("path", ASCENDING)]),
        IndexModel([("site", ASCENDING), ("path", ASCENDING), ("day", ASCENDING)]),
        IndexModel(
            [("updated_at", ASCENDING), ("day", ASCENDING)],
            partialFilterExpression={"updated_at": {"$exists": True}},
        ),
    ),
    shard_key={"site": 1, "path": 1, "day": 1},
)
SOURCES = Collection(
    "hit.source",
    StoredSource,
    indexes=(
        IndexModel(
            [
                ("site", ASCENDING),
                ("dimension", ASCENDING),
                ("day", ASCENDING),
                ("value", ASCENDING),
            ]
        ),
    ),
    shard_key={"site": 1, "dimension": 1, "day": 1, "value": 1},
)


class Subject(NamedTuple):
    """The subject of a report's document: a path, or a value of a dimension."""

    site: str
    dimension: Dimension | None
    value: str


class DayKey(NamedTuple):
    """The key of a site's documents on a day: of a dimension, or of paths (no dimension)."""

    site: str
    dimension: Dimension | None
    day: datetime

    @property
    def id(self) -> str:
        """Return the id of the day's `NameCount`."""
        return f"{self.site}/{self.day:%Y%m%d}/{self.dimension or 'path'}"

    @property
    def filter(self) -> Document:
        """Return the filter of the day's documents, in `DAYS` or in `SOURCES`."""
        dimension = {} if self.dimension is None else {"dimension": self.dimension}
        return {"site": self.site, **dimension, "day": self.day}


class Place(NamedTuple):
    """A subject on a day."""

    subject: Subject
    day: datetime

    def other(self) -> "Place":
        """Return the day's `*other*`, which counts names without admission."""
        return Place(self.subject._replace(value=OTHER), self.day)


# A count for each minute of a day.
Minutes = dict[int, int]
# A batch's counts for each place.
Counted = dict[Place, dict[CountedField, Minutes]]


class Addition(NamedTuple):
    """A batch's additions to the reports.

    via: the ground of each new name's admission.
    causes: the hits of `*other*` by the cause.
    """

    counted: Counted
    via: Mapping[Place, str]
    causes: Mapping[Place, Mapping[str, int]]


class Stamp(NamedTuple):
    """The shard and the time of an addition."""

    shard: int
    now: datetime


def field_of(hit: StoredHit) -> CountedField:
    """Return the field that counts a hit."""
    field: Any = _AS[hit["kind"]]
    return field  # type: ignore[no-any-return]


def places_of(hit: StoredHit) -> list[Place]:
    """Return the places that count a hit: the whole site, the hit's path, a view's sources."""
    site, day = hit["site"], day_of(hit["ts"])
    found = [Place(Subject(site, None, value), day) for value in (WHOLE_SITE, hit["path"])]
    if hit["kind"] == "view":
        fields: Mapping[str, Any] = hit
        for dimension in DIMENSIONS:
            value = fields.get(FIELD_OF[dimension])
            if value is not None:
                found.append(Place(Subject(site, dimension, value), day))
    return found


def add(
    database: Database[Document],
    session: ClientSession,
    added: Addition,
    layouts: Mapping[str, Layout],
    stamp: Stamp,
) -> None:
    """Add counts to their days, in the caller's transaction; `layouts` are by site."""
    operations: dict[str, list[UpdateOne]] = {DAYS.name: [], SOURCES.name: []}
    for place, fields in added.counted.items():
        subject = place.subject
        counts = increments(fields, layouts[subject.site])
        name = DAYS.name if subject.dimension is None else SOURCES.name
        causes = added.causes.get(place, {})
        counts |= {f"causes.{cause}": number for cause, number in causes.items()}
        operations[name].append(_update(place, counts, stamp, added.via.get(place)))
    for name, updates in operations.items():
        if updates:
            database[name].bulk_write(updates, ordered=False, session=session)


def increments(fields: Mapping[CountedField, Minutes], layout: Layout) -> dict[str, int]:
    """Return the `$inc` of a document: each field's total, and its counts by part of the day."""
    counts: dict[str, int] = {}
    for field, minutes in fields.items():
        counts[field] = sum(minutes.values())
        for minute, number in minutes.items():
            if field == "hits":
                parts = layout.paths(minute)
            else:
                parts = (f"quarters.{minute // QUARTER_MINUTES}.{field}",)
            for part in parts:
                counts[part] = counts.get(part, 0) + number
    return counts


def name_of(place: Place, shard: int) -> str:
    """Return a document's id: `site/path/day/shard`, or `site/dimension/value/day/shard`."""
    (site, dimension, value), day = place
    of = (site, *([dimension] if dimension else []), value)
    return "/".join((*of, f"{day:%Y%m%d}", str(shard)))


def _update(place: Place, counts: dict[str, int], stamp: Stamp, via: str | None) -> UpdateOne:
    (site, dimension, value), day = place
    shard, now = stamp
    subject: Document = (
        {"path": value} if dimension is None else {"dimension": dimension, "value": value}
    )
    this = {"_id": name_of(place, shard), "site": site, **subject, "day": day}
    admitted = {} if via is None else {"via": via}
    change: Document = {"$inc": counts, "$setOnInsert": {"shard": shard, **admitted}}
    if value == WHOLE_SITE:
        # Only whole sites have a time of change: an index of all paths would cost much.
        change["$max"] = {"updated_at": now}
    # The hint spares the server a choice among the indexes, which costs more than the update.
    return UpdateOne(this, change, upsert=True, hint=[("_id", ASCENDING)])


class Group:
    """Hits of one day that count for the same places, as the same field.

    A batch of hundreds of hits has a few pages, so a group computes its places once for all hits.
    """

    __slots__ = ("field", "minutes", "networks", "places", "visits")

    def __init__(self, hit: StoredHit) -> None:
        self.field = field_of(hit)
        self.places: Sequence[Place] = places_of(hit)
        self.minutes: Minutes = {}
        self.networks: set[str] = set()
        # (visitor, time) of each view with a visitor; bots and feed readers are no visitors.
        self.visits: list[tuple[str, datetime]] = []


def group_hits(hits: Iterable[StoredHit], networks: Mapping[str, str]) -> list[Group]:
    """Return hits in their groups; `networks` has the network of each hit, by id."""
    groups: dict[tuple[Any, ...], Group] = {}
    for hit in hits:
        ts, get = hit["ts"], hit.get
        key = (
            hit["site"],
            hit["path"],
            hit["kind"],
            get("ref"),
            get("campaign"),
            get("device"),
            get("country"),
            ts.toordinal(),
        )
        group = groups.get(key)
        if group is None:
            group = groups[key] = Group(hit)
        minute = 60 * ts.hour + ts.minute
        group.minutes[minute] = group.minutes.get(minute, 0) + 1
        group.networks.add(networks[hit["_id"]])
        if group.field == "hits" and "visitor" in hit:
            group.visits.append((hit["visitor"], ts))
    return list(groups.values())


def counted_of(groups: Iterable[Group]) -> Counted:
    """Return the groups' counts for each place."""
    counted: Counted = {}
    for group in groups:
        for place in group.places:
            minutes = counted.setdefault(place, {}).setdefault(group.field, {})
            for minute, number in group.minutes.items():
                minutes[minute] = minutes.get(minute, 0) + number
    return counted
