"""The names of a day's reports: pages and sources with rows of their own.

`admission` decides on each name that has no document yet in the day's reports. The transaction that
admits a name also counts its hits. If the container remembers all names of a batch, the admission
reads nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, NamedTuple, NotRequired, Protocol, TypedDict

from pymongo import ASCENDING, IndexModel, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.analytics.hits import OLDEST, OTHER, WHOLE_SITE, Dimension, StoredHit, day_of
from chalicelib.analytics.reports import top
from chalicelib.analytics.reports.admission import Candidate, Cause, Room, Tally, Via, decide
from chalicelib.analytics.reports.days import DAYS, SOURCES, DayKey, Group, Place, Subject
from chalicelib.analytics.reports.late import note_late
from chalicelib.analytics.reports.people import digest
from chalicelib.bounds import AnalyticsBounds
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.runtime import Runtime

_ALWAYS = (WHOLE_SITE, OTHER)
# Plaza's own words and the codes of countries: their number is bounded.
_CLOSED: tuple[Dimension, ...] = ("device", "country")
# More than any bound on the votes of a network.
_MOST_VOTES = 1_000
# From the start of the day. The salt is gone by then, so later hits have no network.
_VOTES_KEPT = timedelta(days=4)


class NameCount(TypedDict):
    """A site's numbers of names on a day; `_id` is `site/day/path` or `site/day/<dimension>`.

    known: names that needed no vote. names: all others. one: these with a single network's vote.
    refused: the day has refused a name, so hits count as `*other*`.
    """

    _id: str
    day: datetime
    names: int
    one: NotRequired[int]
    known: NotRequired[int]
    refused: NotRequired[bool]


class NetworkVotes(TypedDict):
    """A network's votes on a day, as digests of names; `_id` is `site/day/…/network`.

    `network` is a digest with the day's salt. No stored hit has it.
    """

    _id: str
    site: str
    day: datetime
    votes: Annotated[list[int], AtMost(_MOST_VOTES)]


# A count expires only when no further hits of its day can come.
NAME_COUNTS = Collection(
    "hit.names",
    NameCount,
    indexes=(
        IndexModel(
            [("day", ASCENDING)],
            expireAfterSeconds=int((OLDEST + timedelta(days=2)).total_seconds()),
        ),
    ),
)
VOTES = Collection(
    "hit.vote",
    NetworkVotes,
    indexes=(
        IndexModel([("site", ASCENDING), ("day", ASCENDING), ("votes", ASCENDING)]),
        IndexModel([("day", ASCENDING)], expireAfterSeconds=int(_VOTES_KEPT.total_seconds())),
    ),
    shard_key={"site": 1, "day": 1},
)


class Pages(Protocol):
    """Other features' knowledge of pages."""

    def among(self, runtime: Runtime, asked: Mapping[Place, Iterable[str]]) -> set[Place]:
        """Return the places whose path is a page: of content, or of one of the place's nodes."""
        ...


class Names(NamedTuple):
    """The names of a batch after the admission.

    places: names that count in rows of their own.
    via: the ground of each new name. causes: the cause of each refusal.
    """

    places: set[Place]
    via: dict[Place, Via]
    causes: dict[Place, Cause]


class NameBook:
    """The admission of names, with a container's memory of counted names, which saves reads."""

    def __init__(self, runtime: Runtime, pages: Pages) -> None:
        self._runtime = runtime
        self._database: Database[Document] = runtime.database
        self._bounds: AnalyticsBounds = runtime.bounds.analytics
        self._pages = pages
        self._counted: set[Place] = set()
        self._top = top.Tops(runtime.database, self._bounds)

    def remember(self, places: Iterable[Place]) -> None:
        """Remember counted names, after the commit of their transaction."""
        if len(self._counted) > self._bounds.names_remembered:
            self._counted.clear()
        self._counted.update(places)

    def find_known(self, hits: Iterable[StoredHit]) -> set[Place]:
        """Return the places that need no vote: real pages, and the day before's most read names.

        Skips places that the container remembers. Reads outside of any transaction.
        """
        new = {place for place in _find_places(hits) if not self._is_counted(place)}
        if not new:
            return set()
        found = self._top.among(new)
        paths: dict[Place, set[str]] = {
            place: set() for place in new - found if place.subject.dimension is None
        }
        for hit in hits if paths else ():
            place = Place(Subject(hit["site"], None, hit["path"]), day_of(hit["ts"]))
            if "node" in hit and place in paths:
                paths[place].add(hit["node"])
        return found | (self._pages.among(self._runtime, paths) if paths else set())

    def admit(self, session: ClientSession, groups: Sequence[Group], known: set[Place]) -> Names:
        """Admit the places of groups, in the caller's transaction; return the result."""
        asked = {place for group in groups for place in group.places}
        counted = {place for place in asked if self._is_counted(place)}
        if len(counted) < len(asked):
            counted |= _look_up(self._database, session, asked - counted)
        found = Names(counted, {}, {})
        by_day: dict[DayKey, dict[str, Candidate]] = {}
        for group in groups if len(counted) < len(asked) else ():
            for place in group.places:
                if place not in counted:
                    of_day = by_day.setdefault(_day(place), {})
                    new = Candidate(digest(place.subject), set(), place in known)
                    of_day.setdefault(place.subject.value, new).networks.update(group.networks)
        if by_day:
            self._admit(session, by_day, found)
        return found

    def _admit(
        self,
        session: ClientSession,
        by_day: Mapping[DayKey, dict[str, Candidate]],
        found: Names,
    ) -> None:
        ids = [day.id for day in by_day]
        rows: Any = NAME_COUNTS.of(self._database).find({"_id": {"$in": ids}}, session=session)
        stored = {row["_id"]: row for row in rows}
        # A full day needs no votes.
        with_room = {
            day: asked
            for day, asked in by_day.items()
            if stored.get(day.id, {}).get("names", 0) < self._room(day).names
        }
        votes = _votes(self._database, session, with_room) if with_room else {}
        counts: list[UpdateOne] = []
        cast: list[UpdateOne] = []
        late_places: list[Place] = []
        for day, asked in by_day.items():
            row = stored.get(day.id, {})
            before = Tally(row.get("known", 0), row.get("names", 0), row.get("one", 0))
            tally = Tally(before.known, before.names, before.one)
            decision = decide(asked, votes.get(day, {}), tally, self._room(day))
            subjects = {name: _place(day, name) for name in asked}
            found.via.update({subjects[name]: via for name, via in decision.via.items()})
            found.causes.update({subjects[name]: why for name, why in decision.causes.items()})
            is_refused = bool(decision.causes)
            if decision.via or decision.cast or (is_refused and not row.get("refused")):
                counts.append(_counting(day, before, tally, is_refused=is_refused))
            cast += [_casting(day, network, keys) for network, keys in decision.cast.items()]
            if row.get("refused"):
                late_places += [subjects[name] for name in decision.via]
        found.places.update(found.via)
        for collection, writes in ((NAME_COUNTS, counts), (VOTES, cast)):
            if writes:
                collection.of(self._database).bulk_write(writes, ordered=False, session=session)
        note_late(self._database, session, late_places, self._runtime.now())

    def _is_counted(self, place: Place) -> bool:
        subject = place.subject
        is_closed = subject.dimension in _CLOSED
        return is_closed or subject.value in _ALWAYS or place in self._counted

    def _room(self, day: DayKey) -> Room:
        bounds = self._bounds
        if day.dimension is None:
            return Room(bounds.paths, bounds.paths_of_one, bounds.paths_of_network)
        return Room(bounds.sources, bounds.sources_of_one, bounds.sources_of_network)


def _find_places(hits: Iterable[StoredHit]) -> Iterator[Place]:
    """Yield once each place with a name that a stranger may choose: path, referrer, campaign."""
    paths: set[tuple[str, int, str]] = set()
    sources: set[tuple[str, int, Dimension, str]] = set()
    for hit in hits:
        site, day = hit["site"], hit["ts"].toordinal()
        paths.add((site, day, hit["path"]))
        if hit["kind"] == "view":
            ref, campaign = hit.get("ref"), hit.get("campaign")
            if ref is not None:
                sources.add((site, day, "referrer", ref))
            if campaign is not None:
                sources.add((site, day, "campaign", campaign))
    for site, day, path in paths:
        yield Place(Subject(site, None, path), _midnight(day))
    for site, day, dimension, value in sources:
        yield Place(Subject(site, dimension, value), _midnight(day))


def _midnight(day: int) -> datetime:
    return datetime.fromordinal(day).replace(tzinfo=UTC)


def _look_up(
    database: Database[Document], session: ClientSession, places: Iterable[Place]
) -> set[Place]:
    """Return the places with a document in the reports; reads the indexes alone."""
    by_day: dict[DayKey, list[str]] = {}
    for place in places:
        by_day.setdefault(_day(place), []).append(place.subject.value)
    found: set[Place] = set()
    for collection, field in ((DAYS, "path"), (SOURCES, "value")):
        branches = [
            {**day.filter, field: {"$in": values}}
            for day, values in by_day.items()
            if (day.dimension is None) == (collection is DAYS)
        ]
        if branches:
            rows: Any = collection.of(database)
            fields = {"_id": 0, "site": 1, "day": 1, field: 1}
            fields |= {"dimension": 1} if collection is SOURCES else {}
            # In one batch: a cursor's first batch has only 101 rows by default.
            for row in rows.find({"$or": branches}, fields, session=session).batch_size(100_000):
                found.add(_place(DayKey(row["site"], row.get("dimension"), row["day"]), row[field]))
    return found


def _votes(
    database: Database[Document],
    session: ClientSession,
    by_day: Mapping[DayKey, dict[str, Candidate]],
) -> dict[DayKey, dict[str, set[int]]]:
    """Return the votes of a batch's networks, and of all networks that vouch for its names."""
    branches: list[Document] = []
    prefixes = {f"{day.id}/": day for day in by_day}
    for day, asked in by_day.items():
        of_day = {"site": day.site, "day": day.day}
        networks = {network for one in asked.values() for network in one.networks}
        branches.append({**of_day, "_id": {"$in": [f"{day.id}/{each}" for each in networks]}})
        branches.append({**of_day, "votes": {"$in": [one.key for one in asked.values()]}})
    found: dict[DayKey, dict[str, set[int]]] = {day: {} for day in by_day}
    rows: Any = VOTES.of(database).find({"$or": branches}, session=session).batch_size(100_000)
    for row in rows:
        prefix, _, network = row["_id"].rpartition("/")
        if day_of_row := prefixes.get(f"{prefix}/"):
            found[day_of_row][network] = set(row["votes"])
    return found


def _counting(day: DayKey, before: Tally, tally: Tally, *, is_refused: bool) -> UpdateOne:
    """Return the update of a day's count; simultaneous batches with votes conflict in it."""
    added = {
        name: getattr(tally, name) - getattr(before, name) for name in ("names", "one", "known")
    }
    change: Document = {"$inc": added, "$setOnInsert": {"day": day.day}}
    if is_refused:
        change["$set"] = {"refused": True}
    return UpdateOne({"_id": day.id}, change, upsert=True)


def _casting(day: DayKey, network: str, keys: Sequence[int]) -> UpdateOne:
    this = {"_id": f"{day.id}/{network}", "site": day.site, "day": day.day}
    return UpdateOne(this, {"$push": {"votes": {"$each": list(keys)}}}, upsert=True)


def free(
    database: Database[Document], session: ClientSession, place: Place, via: Via | None
) -> None:
    """Free the room of a removed name, in the caller's transaction.

    `via`: the ground of its admission; None for a name of an earlier release.
    """
    freed = {"known": -1} if via == "known" else {"names": -1, "one": -(via == "one")}
    name = _day(place).id
    NAME_COUNTS.of(database).update_one({"_id": name}, {"$inc": freed}, session=session)


def _day(place: Place) -> DayKey:
    return DayKey(place.subject.site, place.subject.dimension, place.day)


def _place(day: DayKey, name: str) -> Place:
    return Place(Subject(day.site, day.dimension, name), day.day)
