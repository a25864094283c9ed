"""Campaigns as they are stored."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads.bounds import MAX_AD_UNITS, MAX_CAPS, MAX_TARGETS
from chalicelib.ads.errors import UnknownCampaign
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost


class Flight(TypedDict):
    """When a campaign may be served."""

    start: datetime
    end: datetime


class Pricing(TypedDict):
    """What the advertiser pays, and for what."""

    type: Literal["cpm", "cpc"]
    bid_micros: int


class Budget(TypedDict):
    """What a campaign may spend."""

    total_micros: int
    daily_micros: int | None
    pacing: Literal["even", "asap"]


class Balance(TypedDict):
    """Where a campaign's money is; `day_start` is the day that it was last released for."""

    released_micros: int
    available_micros: int
    leased_micros: int
    spent_micros: int
    committed_before_micros: int
    day_start: datetime


class StoredCampaign(TypedDict):
    """A campaign as it is stored; one that was never activated has no balance.

    An exhausted one says what it lacks: budget due by now, or its advertiser's funds.
    """

    _id: str
    status: Literal["draft", "active", "paused", "ended", "exhausted", "deleting", "deleted"]
    flight: Flight
    time_zone: str
    pricing: Pricing
    budget: Budget
    caps: Annotated[list[Document], AtMost(MAX_CAPS)]
    targets: Annotated[list[Document], AtMost(MAX_TARGETS)]
    ad_units: Annotated[list[Document], AtMost(MAX_AD_UNITS)]
    balance: NotRequired[Balance]
    deleted_at: NotRequired[datetime]
    exhausted_by: NotRequired[Literal["budget", "funds"]]


CAMPAIGNS = Collection(
    "ad.campaign",
    StoredCampaign,
    indexes=(IndexModel([("status", ASCENDING), ("flight.end", ASCENDING)]),),
)


# What has become of a campaign that was deleted: docs/decisions/0082.
GONE = ("deleting", "deleted")


def price_micros(pricing: Document) -> int:
    """Return what one billed event costs: a CPM ad's impression, a CPC ad's click."""
    bid: int = pricing["bid_micros"]
    return bid // 1_000 if pricing["type"] == "cpm" else bid


def get(
    database: Database[Document], campaign_id: str, session: ClientSession | None = None
) -> Document:
    """Return a campaign; raises UnknownCampaign, also for one that was deleted."""
    campaign = database[CAMPAIGNS.name].find_one({"_id": campaign_id}, session=session)
    if campaign is None or campaign["status"] in GONE:
        raise UnknownCampaign
    return campaign
