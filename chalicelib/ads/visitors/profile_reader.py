"""Reads of one visitor's profile, for the advertisers of a zone alone."""

from collections.abc import Collection as Names
from collections.abc import Mapping
from typing import Any

from bson.raw_bson import RawBSONDocument
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database
from pymongo.errors import PyMongoError

from chalicelib.ads.visitors.histories import VisitorProfile
from chalicelib.ads.visitors.profiles import PROFILES
from chalicelib.database import Document

# In a zone of so few advertisers one read is for all of them.
FEW_ADVERTISERS = 16


def raw_profiles(database: Database[Document]) -> MongoCollection[Document]:
    """Return the profiles' collection; histories stay BSON until their use.

    A decision uses few of them, and decoding all would take longer than the read. Hold the
    collection: making it again takes a twentieth of a decision.
    """
    options = database.codec_options.with_options(document_class=RawBSONDocument)
    return database.get_collection(PROFILES.name, codec_options=options)


def read(
    profiles: MongoCollection[Document], visitor: str, advertisers: Names[str]
) -> VisitorProfile:
    """Return a visitor's profile with these advertisers' histories, from `raw_profiles`."""
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
    """Return the document, if any, by the bare command: a cursor takes 14 us more.

    The driver does not repeat a command after the loss of a primary. It does repeat `find_one`,
    which follows then.
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
    """Reads one visitor's profile by need; without a visitor the profile is empty.

    In a zone of few advertisers the first read is for all of them, and the only read. Later reads
    join the first, whose revision stays: a write bound to it fails if another write came between.
    After all advertisers of the profile are known, no more reads follow: any other advertiser has
    no history.
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
        """Return the profile with the existing histories of these advertisers."""
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
