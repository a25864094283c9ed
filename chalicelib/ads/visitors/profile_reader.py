"""Reading profiles: one visitor's, as far as the ads of a zone ask for it."""

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

# In a zone of so few advertisers a profile is read for all of them at once.
FEW_ADVERTISERS = 16


def undecoded(database: Database[Document]) -> MongoCollection[Document]:
    """Return the profiles, whose histories stay BSON until they are looked at.

    Few of them will be, and decoding all would take longer than the read. To be kept: making
    it again takes a twentieth of a decision.
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
    is known: any other has no history.
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
