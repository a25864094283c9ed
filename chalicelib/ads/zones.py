"""Zones: what a publisher says of them, and the ads that stand in each, best-paying first.

The ads are derived from the campaigns and written in the transaction that changes one.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from bson import ObjectId
from pymongo import ASCENDING, IndexModel, ReturnDocument, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads import creatives, estimates
from chalicelib.ads.estimates import Estimate
from chalicelib.ads.models import Zone
from chalicelib.ads.pricing import DEFAULT_PRIOR, Prior
from chalicelib.database import Collection, Document
from chalicelib.errors import UnknownZone, ZoneFull
from chalicelib.validators import AtMost

# At 3.2 kB for the largest row they stay below MongoDB's 16 MiB a document.
MAX_ADS = 5_000


class Size(TypedDict):
    """A zone's place on the page, in CSS pixels."""

    width: int
    height: int


class FittedPrior(TypedDict):
    """The distribution of the click-through rates in a zone (`pricing.Prior`)."""

    alpha: float
    beta: float


class StoredZone(TypedDict):
    """A zone as it is stored, with the rows that `rows` makes."""

    _id: ObjectId
    site_id: str
    zone_id: str
    size: Size
    floor_ecpm_micros: int
    count_on: Literal["beacon", "decision"]
    version: int
    ads: Annotated[list[Document], AtMost(MAX_ADS)]
    ctr_prior: NotRequired[FittedPrior]


ZONES = Collection(
    "ad.zone",
    StoredZone,
    indexes=(
        IndexModel([("site_id", ASCENDING), ("zone_id", ASCENDING)], unique=True),
        IndexModel([("ads.campaign_id", ASCENDING)]),
    ),
    shard_key={"site_id": 1, "zone_id": 1},
)
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


def version(database: Database[Document], site_id: str, zone_id: str) -> int:
    """Return a zone's version, which every change of its ads raises; raises UnknownZone."""
    return int(_find(database, site_id, zone_id, {"_id": 0, "version": 1})["version"])


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


def rows(campaign: Document, estimate: Estimate = estimates.UNKNOWN) -> list[Document]:
    """Return the rows that an active campaign has in a zone, one for an ad unit.

    A row is {campaign_id, ad_unit_id, pricing, ecpm_micros, start, end, keywords, caps} with
    either the `creative` or, for one over 1 KiB, its `creative_id`.
    """
    shared = {
        "campaign_id": campaign["_id"],
        "pricing": campaign["pricing"],
        "start": campaign["flight"]["start"],
        "end": campaign["flight"]["end"],
        "caps": campaign["caps"],
    }
    return [
        {
            **shared,
            "ad_unit_id": unit["ad_unit_id"],
            "ecpm_micros": estimate.ecpm_micros(
                campaign["pricing"], (campaign["_id"], unit["ad_unit_id"])
            ),
            "keywords": unit["keywords"],
            **creatives.placement(campaign["_id"], unit),
        }
        for unit in campaign["ad_units"]
    ]


def in_order(ads: Iterable[Document]) -> list[Document]:
    """Return rows as a zone holds them, in descending eCPM."""
    return sorted(ads, key=lambda ad: (-ad["ecpm_micros"], ad["campaign_id"], ad["ad_unit_id"]))


def place(
    database: Database[Document],
    session: ClientSession,
    campaign: Document,
    standing: Iterable[Document] = (),
) -> None:
    """Make the campaign's ads stand in the zones that it targets, and in no other.

    The zones where they are `standing`, just as they are to be, are left alone. Raises
    ZoneFull, naming the zones; the caller's transaction then leaves nothing written.
    """
    done = {_key(target) for target in standing}
    targets = [target for target in campaign["targets"] if _key(target) not in done]
    others = {"ads.campaign_id": campaign["_id"], "$nor": _any_of(campaign["targets"])["$or"]}
    has_room = {"$expr": {"$lte": _size_with(campaign)}}
    database[ZONES.name].update_many(others, _replacement(campaign["_id"], []), session=session)
    if not targets:
        return
    known = _estimates(database, session, campaign, targets)
    updates = [
        UpdateOne(
            {**target, **has_room},
            _replacement(
                campaign["_id"], rows(campaign, known.get(_key(target), estimates.UNKNOWN))
            ),
        )
        for target in targets
    ]
    result = database[ZONES.name].bulk_write(updates, session=session)
    if result.matched_count < len(targets):
        is_full = {"$expr": {"$gt": _size_with(campaign)}}
        full = database[ZONES.name].find(
            {**_any_of(targets), **is_full}, limit=MAX_ZONES_NAMED, session=session
        )
        names = ", ".join(f"{zone['site_id']}/{zone['zone_id']}" for zone in full)
        raise ZoneFull(f"A zone holds at most {MAX_ADS} ads; full: {names}")


def _key(zone: Document) -> tuple[str, str]:
    return zone["site_id"], zone["zone_id"]


def _estimates(
    database: Database[Document],
    session: ClientSession,
    campaign: Document,
    targets: Sequence[Document],
) -> dict[tuple[str, str], Estimate]:
    """Return what is known of a campaign's click-through rates; a CPM campaign needs nothing."""
    if campaign["pricing"]["type"] == "cpm":
        return {}
    counts = estimates.of_campaign(database, session, campaign["_id"], _any_of(targets))
    fields = {"_id": 0, "site_id": 1, "zone_id": 1, "ctr_prior": 1}
    fitted = {**_any_of(targets), "ctr_prior": {"$exists": True}}
    priors = {
        _key(zone): Prior(**zone["ctr_prior"])
        for zone in database[ZONES.name].find(fitted, fields, session=session)
    }
    return {
        key: Estimate(priors.get(key, DEFAULT_PRIOR), counts.get(key, {}))
        for key in {*priors, *counts}
    }


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
