"""Zones: what a publisher says of them, and the ads that stand in each, best-paying first.

The ads are derived from the campaigns and written in the transaction that changes one.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from pymongo import ASCENDING, IndexModel, ReturnDocument, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads import creatives
from chalicelib.ads.models import Zone
from chalicelib.ads.pricing import ecpm_micros
from chalicelib.database import Collection, Document
from chalicelib.errors import UnknownZone, ZoneFull

ZONES = Collection(
    "ad.zone",
    indexes=(
        IndexModel([("site_id", ASCENDING), ("zone_id", ASCENDING)], unique=True),
        IndexModel([("ads.campaign_id", ASCENDING)]),
    ),
    shard_key={"site_id": 1, "zone_id": 1},
)
# At 3.2 kB for the largest row they stay below MongoDB's 16 MiB a document.
MAX_ADS = 5_000
MAX_ZONES_NAMED = 20
# The ids settle the order of equal eCPMs, so that one inventory has one form.
_ORDER = {"ecpm_micros": -1, "campaign_id": 1, "ad_unit_id": 1}
_DESCRIPTION = {
    "_id": 0,
    "site_id": 1,
    "zone_id": 1,
    "size": 1,
    "floor_ecpm_micros": 1,
    "count_on": 1,
    "version": 1,
    "ad_count": {"$size": "$ads"},
}


def put(database: Database[Document], site_id: str, zone_id: str, zone: Zone) -> Document:
    """Create a zone or change what is said of it, and return it; a new one has version 1."""
    stored = database[ZONES.name].find_one_and_update(
        {"site_id": site_id, "zone_id": zone_id},
        {"$set": zone.model_dump(), "$inc": {"version": 1}, "$setOnInsert": {"ads": []}},
        projection=_DESCRIPTION,
        upsert=True,
        return_document=ReturnDocument.AFTER,
    )
    assert stored is not None  # noqa: S101 - an upsert leaves a document to return
    return stored


def get(database: Database[Document], site_id: str, zone_id: str) -> Document:
    """Return a zone with the number of its ads; raises UnknownZone."""
    return _find(database, site_id, zone_id, _DESCRIPTION)


def get_with_ads(database: Database[Document], site_id: str, zone_id: str) -> Document:
    """Return a zone with its ads in descending eCPM; raises UnknownZone."""
    return _find(database, site_id, zone_id, {"_id": 0})


def _find(
    database: Database[Document], site_id: str, zone_id: str, projection: Document
) -> Document:
    zone = database[ZONES.name].find_one({"site_id": site_id, "zone_id": zone_id}, projection)
    if zone is None:
        raise UnknownZone
    return zone


def unknown(database: Database[Document], targets: Sequence[Document]) -> list[int]:
    """Return the positions of the targets that name no zone."""
    found = database[ZONES.name].find(_any_of(targets), {"_id": 0, "site_id": 1, "zone_id": 1})
    known = {(zone["site_id"], zone["zone_id"]) for zone in found}
    return [
        position
        for position, target in enumerate(targets)
        if (target["site_id"], target["zone_id"]) not in known
    ]


def rows(campaign: Document) -> list[Document]:
    """Return the rows that an active campaign has in each of its zones, one for an ad unit.

    A row is {campaign_id, ad_unit_id, ecpm_micros, start, end, keywords, caps} with either
    the `creative` or, for one over 1 KiB, its `creative_id`.
    """
    shared = {
        "campaign_id": campaign["_id"],
        "ecpm_micros": ecpm_micros(campaign["pricing"]),
        "start": campaign["flight"]["start"],
        "end": campaign["flight"]["end"],
        "caps": campaign["caps"],
    }
    return [
        {
            **shared,
            "ad_unit_id": unit["ad_unit_id"],
            "keywords": unit["keywords"],
            **creatives.placement(campaign["_id"], unit),
        }
        for unit in campaign["ad_units"]
    ]


def place(database: Database[Document], session: ClientSession, campaign: Document) -> None:
    """Make the campaign's ads stand in the zones that it targets, and in no other.

    Raises ZoneFull, naming the zones; the caller's transaction then leaves nothing written.
    """
    targets = campaign["targets"]
    others = {"ads.campaign_id": campaign["_id"], "$nor": _any_of(targets)["$or"]}
    update = _replacement(campaign["_id"], rows(campaign))
    has_room = {"$expr": {"$lte": _size_with(campaign)}}
    database[ZONES.name].update_many(others, _replacement(campaign["_id"], []), session=session)
    result = database[ZONES.name].bulk_write(
        [UpdateOne({**target, **has_room}, update) for target in targets], session=session
    )
    if result.matched_count < len(targets):
        is_full = {"$expr": {"$gt": _size_with(campaign)}}
        full = database[ZONES.name].find(
            {**_any_of(targets), **is_full}, limit=MAX_ZONES_NAMED, session=session
        )
        names = ", ".join(f"{zone['site_id']}/{zone['zone_id']}" for zone in full)
        raise ZoneFull(f"A zone holds at most {MAX_ADS} ads; full: {names}")


def clear(database: Database[Document], session: ClientSession, campaign_id: str) -> None:
    """Take the campaign's ads out of every zone that they stand in."""
    database[ZONES.name].update_many(
        {"ads.campaign_id": campaign_id}, _replacement(campaign_id, []), session=session
    )


def _replacement(campaign_id: str, ads: list[Document]) -> list[dict[str, Any]]:
    """Return the update that puts `ads` in the place of the campaign's rows, in order."""
    # A text that starts with `$` would be read as a field path, but for $literal.
    merged = {"$concatArrays": [_without(campaign_id), {"$literal": ads}]}
    return [
        {
            "$set": {
                "ads": {"$sortArray": {"input": merged, "sortBy": _ORDER}},
                "version": {"$add": ["$version", 1]},
            }
        }
    ]


def _size_with(campaign: Document) -> list[Any]:
    """Return the operands that compare a zone's size, with the campaign in it, to the bound."""
    return [{"$size": _without(campaign["_id"])}, MAX_ADS - len(campaign["ad_units"])]


def _without(campaign_id: str) -> Document:
    other = {"$ne": ["$$this.campaign_id", {"$literal": campaign_id}]}
    return {"$filter": {"input": "$ads", "cond": other}}


def _any_of(targets: Iterable[Document]) -> dict[str, list[Document]]:
    """Return the query for these zones: a clause a site, so that 1,000 zones take few."""
    by_site: dict[str, list[str]] = {}
    for target in targets:
        by_site.setdefault(target["site_id"], []).append(target["zone_id"])
    return {"$or": [{"site_id": s, "zone_id": {"$in": zones}} for s, zones in by_site.items()]}
