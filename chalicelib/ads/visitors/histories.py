"""A visitor's history: the events of served ads, by advertiser, in bounded lists.

A decision reads it for the advertisers of its zone alone.
"""

from collections.abc import Collection as Names
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

from pymongo.collection import Collection as MongoCollection
from pymongo.errors import PyMongoError

from chalicelib.database import Document

MAX_EVENTS = 100
MAX_ADVERTISERS = 200
# In a zone of at most this many advertisers, one read of the profile covers them all.
FEW_ADVERTISERS = 16
Kind = Literal["impression", "click", "conversion"]
# The list of a history for each kind of event.
LISTS: Mapping[Kind, Literal["impressions", "clicks", "conversions"]] = {
    "impression": "impressions",
    "click": "clicks",
    "conversion": "conversions",
}


class Entry(TypedDict):
    """An event of one of the advertiser's ads.

    campaign: the campaign's id without its advertiser.
    count: the number of credited conversions of the ad; only in the list of conversions.
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
    """A visitor's events of one advertiser: lists in the order of time."""

    impressions: list[Entry]
    clicks: list[Entry]
    conversions: list[Entry]


class Served(NamedTuple):
    """An ad of a decision, and its zone; tokens hold the fields in this order."""

    decision: str
    slot: int
    campaign_id: str
    ad_unit_id: str
    site_id: str
    zone_id: str

    def entry(self, ts: datetime) -> Entry:
        """Return an event of the ad, for the history of its advertiser."""
        return {
            "ts": ts,
            "campaign": self.campaign_id.partition(":")[2],
            "ad_unit_id": self.ad_unit_id,
            "site_id": self.site_id,
            "zone_id": self.zone_id,
            "decision": self.decision,
            "slot": self.slot,
        }


def served_ad(advertiser: str, entry: Entry) -> Served:
    """Return the ad of an entry in an advertiser's history."""
    return Served(
        entry["decision"],
        entry["slot"],
        f"{advertiser}:{entry['campaign']}",
        entry["ad_unit_id"],
        entry["site_id"],
        entry["zone_id"],
    )


class VisitorProfile(NamedTuple):
    """One visitor's histories of some advertisers; a new visitor has no revision.

    The histories may be raw BSON documents: read-only mappings of this shape.
    `advertiser_count`: the number of advertisers in the whole profile.
    """

    revision: str | None = None
    histories: Mapping[str, History] = MappingProxyType({})
    advertiser_count: int = 0

    @property
    def is_full(self) -> bool:
        """Return whether the profile has no room for another advertiser."""
        return self.advertiser_count >= MAX_ADVERTISERS


def read(
    profiles: MongoCollection[Document], visitor: str, advertisers: Names[str]
) -> VisitorProfile:
    """Return a visitor's profile with these advertisers' histories.

    `profiles`: the collection from `profiles.raw_profiles`.
    """
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
    """Return the document or None, by a plain command: a cursor takes 14 us more.

    The driver does not retry a plain command after the loss of a primary, but it does retry
    `find_one`, so `find_one` follows a failed command.
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
    """A reader of one visitor's profile on demand; without a visitor the profile is empty.

    In a zone of few advertisers, the first read covers them all and is the only read. Later reads
    add histories, but the revision of the first read stays: a write bound to this revision fails
    if another write came between. The reads end when all advertisers of the profile are known:
    any other advertiser has no history.
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
        """Return the profile with the existing histories of at least these advertisers."""
        if self._visitor is None or not advertisers:
            return self._profile or VisitorProfile()
        if not (self._known.issuperset(advertisers) or self._is_whole):
            wanted = self._known.union(advertisers, self._all) - self._known
            found = read(self._profiles, self._visitor, wanted)
            self._known |= wanted
            self._profile = self._join(found)
        return self._profile or VisitorProfile()

    @property
    def _is_whole(self) -> bool:
        """Return whether the reads so far cover the whole profile."""
        profile = self._profile
        return profile is not None and len(profile.histories) >= profile.advertiser_count

    def _join(self, found: VisitorProfile) -> VisitorProfile:
        first = self._profile
        if first is None:
            return found
        return first._replace(histories={**first.histories, **found.histories})
