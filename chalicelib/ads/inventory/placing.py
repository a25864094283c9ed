"""Placing: the rows of active campaigns in the zones that they target.

The transaction that changes a campaign writes its rows. A row waits in `ad.waiting` if the zone's
settings refuse it, or if its advertiser's share or the zone is full of rows that pay no less. In a
full zone the row with the least eCPM leaves for a row that pays more.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, NotRequired

from pymongo import UpdateMany, UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads.ids import advertiser_of
from chalicelib.ads.inventory import click_rates, creatives, fitting, waiting
from chalicelib.ads.inventory.campaigns import StoredCampaign, StoredTarget
from chalicelib.ads.inventory.click_rates import Estimate
from chalicelib.ads.inventory.ecpm import DEFAULT_PRIOR, Prior
from chalicelib.ads.inventory.fitting import AnyRanked, Fitted, Refused, Rules, ZoneRow
from chalicelib.ads.inventory.rows import (
    BRIEF_ROW,
    AdRow,
    BriefRow,
    BriefRows,
    Ranked,
    creative_type,
    key,
)
from chalicelib.ads.inventory.waiting import ZoneKey
from chalicelib.ads.inventory.zones import ZONES, FittedPrior, any_of, version_fields
from chalicelib.database import Document

# The ids settle the order of equal eCPMs, so that one inventory has one form.
_ORDER = {"ecpm_micros": -1, "campaign_id": 1, "ad_unit_id": 1}
# Distinct eCPMs in a campaign's rows; with more of them, an update sorts the whole zone.
MAX_PARTS = 4
# The fields of a zone that decide on an entry.
_RULES = (
    "site_id",
    "zone_id",
    "floor_ecpm_micros",
    "allow_html",
    "allowed_advertisers",
    "blocked_advertisers",
    "ctr_prior",
)


class _Entry(NamedTuple):
    """A campaign's entry into one zone; `own`: the number of its rows there before."""

    zone: ZoneKey
    own: int
    fitted: Fitted

    @property
    def changes_rows(self) -> bool:
        return bool(self.own or self.fitted.entering or self.fitted.leaving)


class _EnteredZone(Rules):
    """The fields of a zone that decide on a campaign's entry.

    mine: the advertiser's rows in the zone. total: the number of all rows in the zone.
    """

    site_id: str
    zone_id: str
    ctr_prior: NotRequired[FittedPrior]
    total: int
    mine: list[BriefRow]


def rows(campaign: StoredCampaign, estimate: Estimate = click_rates.UNKNOWN) -> list[AdRow]:
    """Return the rows of an active campaign for a zone, one for each ad unit.

    A creative over 1 KiB appears as `creative_id` and `creative_type`.
    """
    return [
        {
            "campaign_id": campaign["_id"],
            "pricing": campaign["pricing"],
            "start": campaign["flight"]["start"],
            "end": campaign["flight"]["end"],
            "caps": campaign["caps"],
            "ad_unit_id": unit["ad_unit_id"],
            "ecpm_micros": estimate.ecpm_micros(
                campaign["pricing"], (campaign["_id"], unit["ad_unit_id"])
            ),
            "keywords": unit["keywords"],
            **creatives.placement(campaign["_id"], unit),
        }
        for unit in campaign["ad_units"]
    ]


def in_order(ads: Iterable[AnyRanked]) -> list[AnyRanked]:
    """Return rows in a zone's order: by descending eCPM, then by ids."""
    return sorted(ads, key=lambda ad: (-ad["ecpm_micros"], ad["campaign_id"], ad["ad_unit_id"]))


def place(
    database: Database[Document],
    session: ClientSession,
    campaign: StoredCampaign,
    untouched: Iterable[StoredTarget] = (),
) -> None:
    """Put the campaign's rows into its targets, and remove them from all other zones.

    Zones in `untouched` have these rows already and do not change. The caller's transaction must
    write the campaign before this call.
    """
    done = {_key(target) for target in untouched}
    kept = [target for target in campaign["targets"] if _key(target) in done]
    targets = [target for target in campaign["targets"] if _key(target) not in done]
    waiting.remove(database, session, campaign["_id"], _none_of(kept))
    others = {"ads.campaign_id": campaign["_id"], **_none_of(campaign["targets"])}
    leave = UpdateMany(others, _replacement(campaign["_id"], []))
    _enter(database, session, campaign, targets, leave)


def _none_of(targets: Sequence[StoredTarget]) -> Document:
    return {"$nor": any_of(targets)["$or"]} if targets else {}


def enter(
    database: Database[Document],
    session: ClientSession,
    campaign: StoredCampaign,
    targets: Sequence[StoredTarget],
) -> None:
    """Replace the campaign's rows in these zones; store the rows without a place as waiting."""
    waiting.remove(database, session, campaign["_id"], any_of(targets))
    _enter(database, session, campaign, targets)


def _enter(
    database: Database[Document],
    session: ClientSession,
    campaign: StoredCampaign,
    targets: Sequence[StoredTarget],
    *first: UpdateMany,
) -> None:
    """Replace the campaign's rows in these zones after the updates `first`, in one bulk."""
    entries = _entries(database, session, campaign, targets) if targets else []
    updates = [
        UpdateOne(
            {"site_id": entry.zone[0], "zone_id": entry.zone[1]},
            _replacement(campaign["_id"], entry.fitted.entering, entry.fitted.leaving),
        )
        for entry in entries
        if entry.changes_rows
    ]
    if first or updates:
        ZONES.of(database).bulk_write([*first, *updates], session=session)
    refused = (
        (entry.zone, each)
        for entry in entries
        for each in (*entry.fitted.waiting, *entry.fitted.leaving)
    )
    waiting.add(database, session, refused)


def _entries(
    database: Database[Document],
    session: ClientSession,
    campaign: StoredCampaign,
    targets: Sequence[StoredTarget],
) -> list[_Entry]:
    """Return the campaign's entry into each zone, from this transaction's snapshot."""
    fields = _what_counts(campaign["_id"])
    entered = ZONES.read_as(_EnteredZone, database)
    found = entered.find(any_of(targets), fields, session=session)
    zones = {(zone["site_id"], zone["zone_id"]): zone for zone in found}
    known = _estimates(database, session, campaign, list(zones.values()))
    return [
        _entry(
            database,
            session,
            _key(target),
            zones.get(_key(target)),
            rows(campaign, known.get(_key(target), click_rates.UNKNOWN)),
        )
        for target in targets
    ]


def _entry(
    database: Database[Document],
    session: ClientSession,
    key: ZoneKey,
    zone: _EnteredZone | None,
    newcomers: list[AdRow],
) -> _Entry:
    if zone is None:
        return _Entry(key, 0, Fitted([], [Refused(row, "unknown_zone") for row in newcomers], []))
    campaign_id = newcomers[0]["campaign_id"]
    mine = [row for row in zone["mine"] if row["campaign_id"] != campaign_id]
    own, total = len(zone["mine"]) - len(mine), zone["total"] - len(zone["mine"]) + len(mine)
    judged = [(row, fitting.refusal(zone, row, creative_type(row))) for row in newcomers]
    refused = [Refused(row, why) for row, why in judged if why is not None]
    eligible = [row for row, why in judged if why is None]
    fitted = Fitted(eligible, [], [])
    if len(mine) + len(eligible) > fitting.MAX_ADS_OF_ADVERTISER:
        fitted = fitting.fit(eligible, mine, [], 0)
    if total - len(fitted.leaving) + len(fitted.entering) > fitting.MAX_ADS:
        tail = _tail(database, session, key, len(zone["mine"]) + len(eligible))
        others = [row for row in tail if row["campaign_id"] != campaign_id]
        fitted = fitting.fit(eligible, mine, others, total)
    return _Entry(key, own, fitted._replace(waiting=[*refused, *fitted.waiting]))


def _what_counts(campaign_id: str) -> Document:
    """Return the projection to an `_EnteredZone`."""
    advertiser = advertiser_of(campaign_id)
    # `;` follows `:`, and no part of an id contains `:`. So these are the ids `advertiser:...`.
    is_mine = {
        "$and": [
            {"$gte": ["$$this.campaign_id", {"$literal": f"{advertiser}:"}]},
            {"$lt": ["$$this.campaign_id", {"$literal": f"{advertiser};"}]},
        ]
    }
    mine = {"$map": {"input": {"$filter": {"input": "$ads", "cond": is_mine}}, "in": BRIEF_ROW}}
    return {"_id": 0, **dict.fromkeys(_RULES, 1), "total": {"$size": "$ads"}, "mine": mine}


def _tail(
    database: Database[Document], session: ClientSession, key: ZoneKey, count: int
) -> list[BriefRow]:
    """Return a zone's last `count` rows, which have the least eCPM."""
    weakest = {"$map": {"input": {"$slice": ["$ads", -count]}, "in": BRIEF_ROW}}
    this = {"site_id": key[0], "zone_id": key[1]}
    brief = ZONES.read_as(BriefRows, database)
    zone = brief.find_one(this, {"_id": 0, "ads": weakest}, session=session)
    assert zone is not None  # noqa: S101 - it is in this transaction's snapshot
    return zone["ads"]


def _key(zone: StoredTarget) -> ZoneKey:
    return zone["site_id"], zone["zone_id"]


def _estimates(
    database: Database[Document],
    session: ClientSession,
    campaign: StoredCampaign,
    zones: Sequence[_EnteredZone],
) -> Mapping[ZoneKey, Estimate]:
    """Return the click-rate estimates of a campaign by zone; {} for a CPM campaign."""
    if campaign["pricing"]["type"] == "cpm" or not zones:
        return {}
    counts = click_rates.of_campaign(database, session, campaign["_id"], any_of(zones))
    priors = {_key(zone): Prior(**zone["ctr_prior"]) for zone in zones if "ctr_prior" in zone}
    return {
        key: Estimate(priors.get(key, DEFAULT_PRIOR), counts.get(key, {}))
        for key in {*priors, *counts}
    }


def clear(database: Database[Document], session: ClientSession, campaign_id: str) -> None:
    """Remove the campaign's rows from every zone, and its waiting rows."""
    ZONES.of(database).update_many(
        {"ads.campaign_id": campaign_id}, _replacement(campaign_id, []), session=session
    )
    waiting.remove(database, session, campaign_id)


def _replacement(
    campaign_id: str, entering: Sequence[ZoneRow], leaving: Sequence[Refused] = ()
) -> list[Document]:
    """Return the update that replaces the campaign's rows and removes the `leaving` rows."""
    stays: Document = {"$ne": ["$$this.campaign_id", {"$literal": campaign_id}]}
    if leaving:
        name = {"$concat": ["$$this.campaign_id", "/", "$$this.ad_unit_id"]}
        names = ["/".join(key(row)) for row, _ in leaving]
        stays = {"$and": [stays, {"$not": {"$in": [name, {"$literal": names}]}}]}
    ads = _merge(stays, in_order(entering))
    campaign_ids = {campaign_id, *(row["campaign_id"] for row, _ in leaving)}
    return [{"$set": {"ads": ads, **version_fields(campaign_ids)}}]


def _merge(stays: Document, entering: Sequence[ZoneRow]) -> Document:
    """Return the expression that merges a campaign's rows into the staying rows, in order.

    The zone is sorted, so the rows of one price go between two slices of it. A sort of all rows
    would take the server three times as long as the rest of the update.
    """
    groups = [list(rows) for _, rows in groupby(entering, key=itemgetter("ecpm_micros"))]
    if len(groups) > MAX_PARTS:
        kept = {"$filter": {"input": "$ads", "cond": stays}}
        merged = {"$concatArrays": [kept, {"$literal": entering}]}
        return {"$sortArray": {"input": merged, "sortBy": _ORDER}}
    bounds = [_ranks_before(rows[0]) for rows in groups]
    parts: list[Document] = []
    for place in range(len(groups) + 1):
        within = [stays, *({"$not": bound} for bound in bounds[place - 1 : place] if place)]
        within += bounds[place : place + 1]
        parts.append({"$filter": {"input": "$ads", "cond": {"$and": within}}})
        # Without $literal the server would read a text that starts with `$` as a field path.
        parts += [{"$literal": rows} for rows in groups[place : place + 1]]
    return {"$concatArrays": parts}


def _ranks_before(row: Ranked) -> Document:
    """Return the condition that another campaign's row (`$$this`) ranks before this row."""
    price, campaign_id = row["ecpm_micros"], {"$literal": row["campaign_id"]}
    is_first = {"$lt": ["$$this.campaign_id", campaign_id]}
    is_equal = {"$eq": ["$$this.ecpm_micros", price]}
    return {"$or": [{"$gt": ["$$this.ecpm_micros", price]}, {"$and": [is_equal, is_first]}]}
