"""Zones: a publisher's settings, and the rows of ads, the best-paying first.

The transaction that changes a campaign writes its rows into the zones (`placing.py`).
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, NotRequired, TypedDict

from bson import ObjectId
from pymongo import ASCENDING, IndexModel, ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads.errors import UnknownZone
from chalicelib.ads.inventory import fitting, waiting
from chalicelib.ads.inventory.campaigns import StoredTarget
from chalicelib.ads.inventory.fitting import MAX_ADS, Reason, Refused, Rules
from chalicelib.ads.inventory.forms import Zone
from chalicelib.ads.inventory.rows import BRIEF_ROW, AdRow, BriefRow, BriefRows, creative_type
from chalicelib.database import Collection, Document, in_transaction
from chalicelib.database.validators import AtMost

# A zone stores its latest MAX_CHANGES changes, each with its campaigns, so that a container with an
# older version reads only the rows of these campaigns. After a change of more than
# MAX_CAMPAIGNS_OF_CHANGE campaigns the container reads the whole zone.
MAX_CHANGES = 32
MAX_CAMPAIGNS_OF_CHANGE = 20


class ZoneSize(TypedDict):
    """The size of a zone's place on the page, in CSS pixels."""

    width: int
    height: int


class FittedPrior(TypedDict):
    """The distribution of the click-through rates in a zone (`ecpm.Prior`)."""

    alpha: float
    beta: float


class ZoneChange(TypedDict):
    """A version of a zone, and the campaigns with changed rows in that version."""

    version: int
    campaign_ids: Annotated[list[str], AtMost(MAX_CAMPAIGNS_OF_CHANGE)]


class ServedZone(TypedDict):
    """The fields of a zone that a container needs for decisions."""

    _id: ObjectId
    site_id: str
    zone_id: str
    version: int
    size: ZoneSize
    floor_ecpm_micros: int
    count_on: Literal["beacon", "decision"]
    allow_html: bool
    ads: Annotated[list[AdRow], AtMost(MAX_ADS)]


class StoredZone(ServedZone, Rules):
    """A stored zone, with the rows of `placing.rows`."""

    ctr_prior: NotRequired[FittedPrior]
    changes: Annotated[list[ZoneChange], AtMost(MAX_CHANGES)]


class ZoneDescription(TypedDict):
    """A publisher's view of a zone."""

    site_id: str
    zone_id: str
    size: ZoneSize
    floor_ecpm_micros: int
    count_on: Literal["beacon", "decision"]
    allow_html: bool
    allowed_advertisers: list[str] | None
    blocked_advertisers: list[str]
    version: int
    ad_count: int


ZONES = Collection(
    "ad.zone",
    StoredZone,
    indexes=(
        IndexModel([("site_id", ASCENDING), ("zone_id", ASCENDING)], unique=True),
        IndexModel([("ads.campaign_id", ASCENDING)]),
    ),
    shard_key={"site_id": 1, "zone_id": 1},
)
# The fields of `ServedZone`, beside the rows.
SERVING = {"_id": 1, "site_id": 1, "zone_id": 1, "version": 1} | dict.fromkeys(
    ("size", "floor_ecpm_micros", "count_on", "allow_html"), 1
)
_DESCRIPTION = {
    "_id": 0,
    "site_id": 1,
    "zone_id": 1,
    "size": 1,
    "floor_ecpm_micros": 1,
    "count_on": 1,
    "allow_html": 1,
    "allowed_advertisers": 1,
    "blocked_advertisers": 1,
    "version": 1,
    "ad_count": {"$size": "$ads"},
}
_BRIEF = {"_id": 0, "ads": {"$map": {"input": "$ads", "in": BRIEF_ROW}}}


def put(database: Database[Document], site_id: str, zone_id: str, zone: Zone) -> ZoneDescription:
    """Create a zone or change its settings, and return it; a new zone has version 1.

    The rows that the new settings refuse leave in the same transaction. Rows that the settings
    no longer refuse come back when the schedule next refills zones.
    """
    settings = zone.model_dump()
    rules: Rules = {
        "floor_ecpm_micros": zone.floor_ecpm_micros,
        "allow_html": zone.allow_html,
        "allowed_advertisers": zone.allowed_advertisers,
        "blocked_advertisers": zone.blocked_advertisers,
    }

    def work(session: ClientSession) -> ZoneDescription:
        ads = _brief_rows(database, session, site_id, zone_id) or []
        reasons = [fitting.refusal(rules, row, creative_type(row)) for row in ads]
        _leave(database, session, (site_id, zone_id), zip(ads, reasons, strict=True))
        leaving = {row["campaign_id"] for row, why in zip(ads, reasons, strict=True) if why}
        staying = [place for place, why in enumerate(reasons) if why is None]
        update = {
            **{name: {"$literal": value} for name, value in settings.items()},
            "ads": _at(staying) if leaving else {"$ifNull": ["$ads", []]},
            **version_fields(leaving),
        }
        stored = ZONES.read_as(ZoneDescription, database).find_one_and_update(
            {"site_id": site_id, "zone_id": zone_id},
            [{"$set": update}],
            projection=_DESCRIPTION,
            upsert=True,
            return_document=ReturnDocument.AFTER,
            session=session,
        )
        assert stored is not None  # noqa: S101 - an upsert leaves a document to return
        return stored

    return in_transaction(database, work)


def delete(database: Database[Document], site_id: str, zone_id: str) -> None:
    """Delete a zone with its rows, in one transaction; a missing zone is no error.

    The campaigns still target the zone, and the rows wait for a new zone of this id. The rows that
    waited before get the reason `unknown_zone` after the transaction, here or in the next refill,
    because any number may wait. Events of ads that the zone has shown still count and cost.
    """
    gone: Reason = "unknown_zone"
    this = {"site_id": site_id, "zone_id": zone_id}

    def work(session: ClientSession) -> None:
        rows = _brief_rows(database, session, site_id, zone_id)
        if rows is None:
            return
        _leave(database, session, (site_id, zone_id), ((row, gone) for row in rows))
        ZONES.of(database).delete_one(this, session=session)

    in_transaction(database, work)
    waiting.rename(database, (site_id, zone_id), gone)


def _brief_rows(
    database: Database[Document], session: ClientSession, site_id: str, zone_id: str
) -> list[BriefRow] | None:
    key = {"site_id": site_id, "zone_id": zone_id}
    zone = ZONES.read_as(BriefRows, database).find_one(key, _BRIEF, session=session)
    return zone["ads"] if zone else None


def _leave(
    database: Database[Document],
    session: ClientSession,
    zone: waiting.ZoneKey,
    rows: Iterable[tuple[BriefRow, Reason | None]],
) -> None:
    waiting.add(database, session, ((zone, Refused(row, why)) for row, why in rows if why))


def _at(places: Sequence[int]) -> Document:
    """Return the expression for the rows at these positions."""
    row = {"$arrayElemAt": ["$ads", "$$place"]}
    return {"$map": {"input": {"$literal": list(places)}, "as": "place", "in": row}}


def version_fields(campaign_ids: Iterable[str]) -> Document:
    """Return the fields of a pipeline's `$set` that raise the version and store this change.

    A change of over MAX_CAMPAIGNS_OF_CHANGE campaigns is not stored.
    """
    version = {"$add": [{"$ifNull": ["$version", 0]}, 1]}
    ids = sorted(campaign_ids)
    if len(ids) > MAX_CAMPAIGNS_OF_CHANGE:
        return {"version": version}
    change = {"version": version, "campaign_ids": {"$literal": ids}}
    changes = {"$concatArrays": [{"$ifNull": ["$changes", []]}, [change]]}
    return {"version": version, "changes": {"$slice": [changes, -MAX_CHANGES]}}


def get(database: Database[Document], site_id: str, zone_id: str) -> ZoneDescription:
    """Return a zone with the number of its ads; raises UnknownZone."""
    this = {"site_id": site_id, "zone_id": zone_id}
    zone = ZONES.read_as(ZoneDescription, database).find_one(this, _DESCRIPTION)
    if zone is None:
        raise UnknownZone
    return zone


def get_with_ads(database: Database[Document], site_id: str, zone_id: str) -> ServedZone:
    """Return a zone with its rows in descending eCPM; raises UnknownZone."""
    return _find(database, site_id, zone_id, {**SERVING, "ads": 1})


def since(
    database: Database[Document], site_id: str, zone_id: str, version: int
) -> tuple[ServedZone, list[str] | None]:
    """Return a zone with the rows of campaigns changed since a version, and these campaigns' ids.

    None for the ids: the zone does not store every change since, so its rows are incomplete.
    Without changes: no rows, and [] for the ids. One read. Raises UnknownZone.
    """
    newer = {"$gt": ["$$this.version", version]}
    changes = {"$filter": {"input": "$changes", "cond": newer}}
    ids = {
        "$reduce": {
            "input": changes,
            "initialValue": [],
            "in": {"$setUnion": ["$$value", "$$this.campaign_ids"]},
        }
    }
    is_changed = {"$in": ["$$this.campaign_id", "$$ids"]}
    ads = {
        "$let": {
            "vars": {"ids": ids},
            "in": {
                "$cond": [
                    {"$eq": ["$$ids", []]},
                    [],
                    {"$filter": {"input": "$ads", "cond": is_changed}},
                ]
            },
        }
    }
    zone = _find(database, site_id, zone_id, {**SERVING, "changes": changes, "ads": ads})
    remembered = {change["version"] for change in zone["changes"]}
    if remembered != set(range(version + 1, zone["version"] + 1)):
        return zone, None
    return zone, sorted({each for change in zone["changes"] for each in change["campaign_ids"]})


def _find(
    database: Database[Document], site_id: str, zone_id: str, projection: Document
) -> StoredZone:
    zone = ZONES.of(database).find_one({"site_id": site_id, "zone_id": zone_id}, projection)
    if zone is None:
        raise UnknownZone
    return zone


def unknown(database: Database[Document], targets: Sequence[StoredTarget]) -> list[int]:
    """Return the positions of the targets without a zone."""
    found = ZONES.of(database).find(any_of(targets), {"_id": 0, "site_id": 1, "zone_id": 1})
    known = {(zone["site_id"], zone["zone_id"]) for zone in found}
    return [
        position
        for position, target in enumerate(targets)
        if (target["site_id"], target["zone_id"]) not in known
    ]


def any_of(targets: Iterable[StoredTarget]) -> dict[str, list[Document]]:
    """Return the query for these zones; one clause per site shortens a query for 1,000 zones."""
    by_site: dict[str, list[str]] = {}
    for target in targets:
        by_site.setdefault(target["site_id"], []).append(target["zone_id"])
    return {"$or": [{"site_id": s, "zone_id": {"$in": zones}} for s, zones in by_site.items()]}
