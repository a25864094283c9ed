"""Visitor profiles: each visitor's events, in bounded lists that never make a cap leak.

Each added event and each erasure sets a new `revision`. A decision writes only at the revision
that it has read, so the later of two simultaneous decisions sees the ads of the earlier decision.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple, NotRequired, TypedDict

from bson.raw_bson import RawBSONDocument
from pymongo import ASCENDING, IndexModel
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from chalicelib.ads.bounds import DAY_SECONDS, MAX_WINDOW_SECONDS
from chalicelib.ads.visitors.histories import (
    LISTS,
    MAX_ADVERTISERS,
    MAX_EVENTS,
    Entry,
    History,
    Kind,
    VisitorProfile,
)
from chalicelib.database import Collection, Document

# The most conversions credited to an ad of one decision.
MAX_CONVERSIONS = 20
KEPT = timedelta(seconds=MAX_WINDOW_SECONDS)
TTL_SECONDS = 90 * DAY_SECONDS


class StoredProfile(TypedDict):
    """A stored profile: `advertisers` maps each advertiser to its history.

    An erased profile holds only the time of its erasure, until no earlier event can come.
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
# The longest time between a decision and its events.
ERASURE_KEPT = timedelta(days=1)
DAY_MS = DAY_SECONDS * 1_000
KEPT_MS = MAX_WINDOW_SECONDS * 1_000


def raw_profiles(database: Database[Document]) -> MongoCollection[Document]:
    """Return the profiles' collection; histories stay BSON until their use.

    A decision uses few of them, and decoding all would take longer than the read. Reuse the
    collection: making it takes a twentieth of a decision's time.
    """
    options = database.codec_options.with_options(document_class=RawBSONDocument)
    return database.get_collection(PROFILES.name, codec_options=options)


class VisitorEvent(NamedTuple):
    """A visitor's event of an ad; `served_at`: the time of the decision or the credited event."""

    advertiser: str
    kind: Kind
    entry: Entry
    served_at: datetime


def record(
    database: Database[Document],
    visitor: str,
    profile: VisitorProfile,
    impressions: Iterable[tuple[str, Entry]],
    revision: str,
) -> bool:
    """Add impressions, as (advertiser, entry), to a profile just read; return whether it succeeds.

    False: another write or an erasure came between; read again. A full profile omits a new
    advertiser, and all caps of this advertiser's ads refuse then.
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
        fields[path] = _append(f"${path}", entries)
    try:
        result = PROFILES.of(database).update_one(
            {"_id": visitor, "revision": profile.revision},
            [{"$set": fields}, {"$set": {"advertiser_count": advertiser_count()}}],
            upsert=profile.revision is None,
        )
    except DuplicateKeyError:
        return False
    return bool(result.matched_count or result.upserted_id)


def _append(path: str, entries: list[Entry]) -> Document:
    """Return the expression of the list at a path plus entries: the latest MAX_EVENTS, by time."""
    merged = {"$concatArrays": [{"$ifNull": [path, []]}, {"$literal": entries}]}
    ordered = {"$sortArray": {"input": merged, "sortBy": {"ts": 1}}}
    return {"$slice": [ordered, -MAX_EVENTS]}


def advertiser_count() -> Document:
    """Return the expression that counts a profile's advertisers."""
    return {"$size": {"$objectToArray": {"$ifNull": ["$advertisers", {}]}}}


def add(
    database: Database[Document],
    visitor: str,
    met: VisitorEvent,
) -> None:
    """Add one event to a visitor's profile, once for each decision and slot.

    Otherwise copies of one beacon would push the other events out of the list. The profile omits
    the event of a decision before the visitor's erasure. A full profile omits a new advertiser,
    and all caps of this advertiser's ads refuse then.
    """
    takes = _takes(visitor, met)
    update = _addition(met)
    profiles = PROFILES.of(database)
    if profiles.update_one(takes, update).matched_count:
        return
    try:
        profiles.update_one({"_id": visitor, "revision": None}, update, upsert=True)
    except DuplicateKeyError:
        # The profile exists: it takes no such event, or another event has just made it.
        profiles.update_one(takes, update)


def _takes(visitor: str, met: VisitorEvent) -> Document:
    """Return the filter of a visitor's profile with room for an event, but without this event."""
    path = f"advertisers.{met.advertiser}.{LISTS[met.kind]}"
    same = {"decision": met.entry["decision"], "slot": met.entry["slot"]}
    return {
        "_id": visitor,
        path: {"$not": {"$elemMatch": same}},
        "erased_at": {"$not": {"$gte": met.served_at}},
        "$or": [
            {"advertiser_count": {"$lt": MAX_ADVERTISERS}},
            {f"advertisers.{met.advertiser}": {"$exists": True}},
        ],
    }


def _addition(met: VisitorEvent) -> list[Document]:
    """Return the update that adds an event to a profile."""
    entry, path = met.entry, f"advertisers.{met.advertiser}.{LISTS[met.kind]}"
    fields: Document = {
        "last_seen": {"$max": ["$last_seen", entry["ts"]]},
        "trim_at": {"$ifNull": ["$trim_at", entry["ts"] + KEPT]},
        "revision": f"{entry['decision']}:{entry['slot']}:{met.kind}",
        path: _append(f"${path}", [entry]),
    }
    return [{"$set": fields}, {"$set": {"advertiser_count": advertiser_count()}}]


def add_conversion(
    database: Database[Document],
    visitor: str,
    met: VisitorEvent,
) -> bool:
    """Add a conversion to a visitor's profile; return whether its ad may get the credit.

    False: the ad has MAX_CONVERSIONS already, or the profile omits the event.
    """
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
    """Delete a visitor's data.

    The time of the erasure stays for a day: without it a beacon of an earlier decision would make
    a profile again.
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


# Trimming drops the events that no cap can still count.

# The most profiles of one write, and the most writes of one run.
TRIM_BATCH = 500
MAX_TRIM_BATCHES = 100


def trim(database: Database[Document], now: datetime, batch: int = TRIM_BATCH) -> int:
    """Drop the events that no cap's window reaches any more; return the number of changed profiles.

    `trim_at` is the expiry of a profile's oldest event, but at least a day after the last trim. So
    a run reads due profiles alone, each at most once a day. It also deletes empty erased
    profiles after a day, without counting them. Two runs at once and a missing run do no harm.
    """
    profiles, trimmed = PROFILES.of(database), 0
    forgotten = {"erased_at": {"$lte": now - ERASURE_KEPT}, "advertiser_count": 0}
    profiles.delete_many({"trim_at": {"$lte": now}, **forgotten})
    for _ in range(MAX_TRIM_BATCHES):
        due = profiles.find({"trim_at": {"$lte": now}}, {"_id": 1})
        ids = [profile["_id"] for profile in due.sort("trim_at", ASCENDING).limit(batch)]
        if not ids:
            break
        result = profiles.update_many(
            {"_id": {"$in": ids}, "trim_at": {"$lte": now}}, _trimming(now)
        )
        trimmed += result.modified_count
    return trimmed


def _trimming(now: datetime) -> list[Document]:
    """Return the update that drops old events and empty advertisers, and sets the next trim."""
    kept = {
        name: {
            "$filter": {
                "input": {"$ifNull": [f"$$each.v.{name}", []]},
                "cond": {"$gt": ["$$this.ts", now - KEPT]},
            }
        }
        for name in LISTS.values()
    }
    times = {"$concatArrays": [f"$$this.v.{name}.ts" for name in LISTS.values()]}
    histories = {
        "$map": {
            "input": {"$objectToArray": "$advertisers"},
            "as": "each",
            "in": {"k": "$$each.k", "v": kept},
        }
    }
    remaining = {"$filter": {"input": histories, "cond": {"$ne": [times, []]}}}
    oldest = {
        "$min": {
            "$map": {
                "input": {"$objectToArray": "$advertisers"},
                "as": "this",
                "in": {"$min": times},
            }
        }
    }
    next_time = {"$max": [{"$add": [oldest, KEPT_MS]}, {"$add": [now, DAY_MS]}]}
    is_empty = {"$eq": ["$advertiser_count", 0]}
    return [
        {"$set": {"advertisers": {"$arrayToObject": remaining}}},
        {"$set": {"advertiser_count": advertiser_count()}},
        {"$set": {"trim_at": {"$cond": [is_empty, "$$REMOVE", next_time]}}},
    ]
