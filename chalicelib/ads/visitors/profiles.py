"""Visitor profiles: what each visitor has met, in lists with bounds that never make a cap leak.

A writer puts its own `revision` on the profile and changes only the one that it has read, so
of two decisions at once the later one sees what the earlier one showed.
"""

from collections.abc import Collection as Names
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

from bson.raw_bson import RawBSONDocument
from pymongo import ASCENDING, IndexModel
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError, PyMongoError

from chalicelib.ads.bounds import DAY_SECONDS, MAX_WINDOW_SECONDS
from chalicelib.database import Collection, Document

# In a zone of so few advertisers a profile is read for all of them at once.
FEW_ADVERTISERS = 16
MAX_EVENTS = 100
# What an ad of one decision may be credited with.
MAX_CONVERSIONS = 20
MAX_ADVERTISERS = 200
KEPT = timedelta(seconds=MAX_WINDOW_SECONDS)
TTL_SECONDS = 90 * DAY_SECONDS
Kind = Literal["impression", "click", "conversion"]
# The list of a profile for each kind of event.
LISTS: Mapping[Kind, Literal["impressions", "clicks", "conversions"]] = {
    "impression": "impressions",
    "click": "clicks",
    "conversion": "conversions",
}


class Entry(TypedDict):
    """An event of one of the advertiser's ads; a conversion's `count` is what the ad was credited.

    `campaign` is the campaign's id without its advertiser.
    """

    ts: datetime
    campaign: str
    ad_unit_id: str
    site_id: str
    zone_id: str
    decision: str
    slot: int
    count: NotRequired[int]


class History(TypedDict, total=False):
    """What a visitor has met of one advertiser: lists in the order of time."""

    impressions: list[Entry]
    clicks: list[Entry]
    conversions: list[Entry]


class StoredProfile(TypedDict):
    """A profile as it is stored: `advertisers` maps each to its history.

    An erased profile holds nothing but its time, for as long as earlier events may come.
    """

    _id: str
    revision: str
    advertisers: dict[str, History]
    advertiser_count: int
    last_seen: datetime
    trim_at: NotRequired[datetime]
    erased_at: NotRequired[datetime]


PROFILES = Collection(
    "ad.user",
    StoredProfile,
    indexes=(
        IndexModel([("last_seen", ASCENDING)], expireAfterSeconds=TTL_SECONDS),
        IndexModel([("trim_at", ASCENDING)]),
    ),
)
# As long as an event of an ad that was served before an erasure may come.
ERASURE_KEPT = timedelta(days=1)
DAY_MS = DAY_SECONDS * 1_000
KEPT_MS = MAX_WINDOW_SECONDS * 1_000


class VisitorProfile(NamedTuple):
    """What one visitor has met of some advertisers; one never seen has no revision.

    The histories may be raw BSON, which reads like the shape.
    """

    revision: str | None = None
    histories: Mapping[str, History] = MappingProxyType({})
    advertiser_count: int = 0

    @property
    def is_full(self) -> bool:
        """Return whether another advertiser's events would find no place."""
        return self.advertiser_count >= MAX_ADVERTISERS


class Met(NamedTuple):
    """An event of an ad that was served to a visitor at `served_at`, and its entry."""

    advertiser: str
    kind: Kind
    entry: Entry
    served_at: datetime


def undecoded(database: Database[Document]) -> MongoCollection[Document]:
    """Return the profiles, whose histories stay BSON until they are looked at.

    Few of them will be, and decoding all would take longer than the read. To be kept: making
    it anew is a twentieth of a decision.
    """
    options = database.codec_options.with_options(document_class=RawBSONDocument)
    return database.get_collection(PROFILES.name, codec_options=options)


def read(
    profiles: MongoCollection[Document], visitor: str, advertisers: Names[str]
) -> VisitorProfile:
    """Return a visitor's profile, of those `undecoded`, as far as these advertisers go."""
    wanted = {f"advertisers.{advertiser}": 1 for advertiser in advertisers}
    fields = {"revision": 1, "advertiser_count": 1, **wanted}
    found = _find(profiles, {"_id": visitor}, fields)
    if found is None:
        return VisitorProfile()
    return VisitorProfile(
        found["revision"], found.get("advertisers", {}), found["advertiser_count"]
    )


def _find(
    profiles: MongoCollection[Document], only: Document, fields: Document
) -> Mapping[str, Any] | None:
    """Return the one document there may be, by the bare command: a cursor takes 14 us more.

    The driver does not repeat a command when a primary goes; `find_one`, which it does repeat,
    is asked in its place then.
    """
    find = {
        "find": profiles.name,
        "filter": only,
        "projection": fields,
        "limit": 1,
        "singleBatch": True,
        "readConcern": profiles.read_concern.document,
    }
    try:
        reply = profiles.database.command(
            find, codec_options=profiles.codec_options, read_preference=profiles.read_preference
        )
    except PyMongoError:
        return profiles.find_one(only, fields)
    return next(iter(reply["cursor"]["firstBatch"]), None)


class ProfileReader:
    """Reads one visitor's profile, as far as it is asked for; nobody has an empty one.

    In a zone of few advertisers the first read is for all of them, and the only one. What is
    read later is joined to the first read, whose revision stays: a write that is bound to it
    fails if another came between. Nothing is read again once every advertiser of the profile
    is known: whoever else is asked for has no history.
    """

    def __init__(
        self, profiles: MongoCollection[Document], visitor: str | None, advertisers: Names[str]
    ) -> None:
        self._profiles = profiles
        self._visitor = visitor
        self._all = advertisers if len(advertisers) <= FEW_ADVERTISERS else ()
        self._known: set[str] = set()
        self._profile: VisitorProfile | None = None

    def __call__(self, advertisers: Names[str]) -> VisitorProfile:
        """Return the profile with the histories of these advertisers, as far as there are any."""
        if self._visitor is None or not advertisers:
            return self._profile or VisitorProfile()
        if not (self._known.issuperset(advertisers) or self._is_whole):
            wanted = self._known.union(advertisers, self._all) - self._known
            found = read(self._profiles, self._visitor, wanted)
            self._known |= wanted
            self._profile = self._joined(found)
        return self._profile or VisitorProfile()

    @property
    def _is_whole(self) -> bool:
        """Return whether the histories that were read are all that the profile has."""
        profile = self._profile
        return profile is not None and len(profile.histories) >= profile.advertiser_count

    def _joined(self, found: VisitorProfile) -> VisitorProfile:
        first = self._profile
        if first is None:
            return found
        return first._replace(histories={**first.histories, **found.histories})


def record(
    database: Database[Document],
    visitor: str,
    profile: VisitorProfile,
    impressions: Iterable[tuple[str, Entry]],
    revision: str,
) -> bool:
    """Add impressions, as (advertiser, entry), to the profile that was read; return whether it was.

    False means that another has written since, or that the visitor's data were erased: read
    again. An advertiser whom a full profile does not know is left out; its caps refuse.
    """
    by_advertiser: dict[str, list[Entry]] = {}
    for advertiser, entry in impressions:
        if not profile.is_full or advertiser in profile.histories:
            by_advertiser.setdefault(advertiser, []).append(entry)
    times = [entry["ts"] for entries in by_advertiser.values() for entry in entries]
    if not times:
        return True
    fields: Document = {
        "last_seen": {"$max": ["$last_seen", max(times)]},
        "trim_at": {"$min": ["$trim_at", min(times) + KEPT]},
        "revision": revision,
    }
    for advertiser, entries in by_advertiser.items():
        path = f"advertisers.{advertiser}.{LISTS['impression']}"
        fields[path] = _appended(f"${path}", entries)
    try:
        result = PROFILES.of(database).update_one(
            {"_id": visitor, "revision": profile.revision},
            [{"$set": fields}, {"$set": {"advertiser_count": advertiser_count()}}],
            upsert=profile.revision is None,
        )
    except DuplicateKeyError:
        return False
    return bool(result.matched_count or result.upserted_id)


def _appended(path: str, entries: list[Entry]) -> Document:
    """Return the list at the path with these entries, in order of time, the oldest dropped."""
    merged = {"$concatArrays": [{"$ifNull": [path, []]}, {"$literal": entries}]}
    ordered = {"$sortArray": {"input": merged, "sortBy": {"ts": 1}}}
    return {"$slice": [ordered, -MAX_EVENTS]}


def advertiser_count() -> Document:
    """Return the expression that counts a profile's advertisers."""
    return {"$size": {"$objectToArray": {"$ifNull": ["$advertisers", {}]}}}


def add(
    database: Database[Document],
    visitor: str,
    met: Met,
) -> None:
    """Add one event to a visitor's profile, unless its decision and slot stand there already.

    An event of an ad that was served before the visitor's data were erased is dropped.

    Without that guard, copies of one beacon would push the other events out of the list. An
    advertiser whom a full profile does not know is left out; its caps refuse.
    """
    advertiser, kind, entry, served_at = met
    path = f"advertisers.{advertiser}.{LISTS[kind]}"
    same = {"decision": entry["decision"], "slot": entry["slot"]}
    is_new = {
        "_id": visitor,
        path: {"$not": {"$elemMatch": same}},
        "erased_at": {"$not": {"$gte": served_at}},
    }
    has_room = {
        "$or": [
            {"advertiser_count": {"$lt": MAX_ADVERTISERS}},
            {f"advertisers.{advertiser}": {"$exists": True}},
        ]
    }
    fields: Document = {
        "last_seen": {"$max": ["$last_seen", entry["ts"]]},
        "trim_at": {"$ifNull": ["$trim_at", entry["ts"] + KEPT]},
        "revision": f"{entry['decision']}:{entry['slot']}:{kind}",
        path: _appended(f"${path}", [entry]),
    }
    update: list[Document] = [
        {"$set": fields},
        {"$set": {"advertiser_count": advertiser_count()}},
    ]
    profiles = PROFILES.of(database)
    if profiles.update_one({**is_new, **has_room}, update).matched_count:
        return
    try:
        profiles.update_one({"_id": visitor, "revision": None}, update, upsert=True)
    except DuplicateKeyError:
        # There is a profile: with this event, or made in between by another one.
        profiles.update_one({**is_new, **has_room}, update)


def add_conversion(
    database: Database[Document],
    visitor: str,
    met: Met,
) -> bool:
    """Add a conversion to a visitor's profile; return whether its ad may be credited with it."""
    entry: Entry = {**met.entry, "count": 0}
    add(database, visitor, met._replace(entry=entry))
    path = f"advertisers.{met.advertiser}.{LISTS['conversion']}"
    ad = {"decision": entry["decision"], "slot": entry["slot"]}
    has_room = {
        "_id": visitor,
        path: {"$elemMatch": {**ad, "count": {"$not": {"$gte": MAX_CONVERSIONS}}}},
    }
    counted = {"$inc": {f"{path}.$.count": 1}}
    return PROFILES.of(database).update_one(has_room, counted).matched_count > 0


def erase(database: Database[Document], visitor: str, now: datetime) -> None:
    """Delete everything that is kept of a visitor.

    The time of it stays for a day: without it a beacon of an ad that was served before would
    make a profile again.
    """
    erased: StoredProfile = {
        "_id": visitor,
        "revision": f"erased:{now.timestamp()}",
        "advertisers": {},
        "advertiser_count": 0,
        "last_seen": now,
        "trim_at": now + ERASURE_KEPT,
        "erased_at": now,
    }
    PROFILES.of(database).replace_one({"_id": visitor}, erased, upsert=True)
