"""Campaigns as they are stored."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

from pydantic import AfterValidator, Field
from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads.bounds import MAX_AD_UNITS, MAX_CAPS, MAX_TARGETS
from chalicelib.ads.errors import UnknownCampaign
from chalicelib.ads.inventory.creatives import AdUnit
from chalicelib.database import Collection, Document
from chalicelib.database.validators import OPAQUE, AtMost
from chalicelib.keywords import Keyword


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


class Cap(TypedDict):
    """How often one visitor may see or click what the scope names, within a window."""

    scope: Literal["ad", "campaign", "advertiser"]
    event: Literal["impression", "click"]
    limit: int
    window_seconds: int


class Target(TypedDict):
    """What names a zone."""

    site_id: str
    zone_id: str


class GroupedZone(TypedDict):
    """A zone that a pipeline has grouped documents by."""

    _id: Target


Status = Literal["draft", "active", "paused", "ended", "exhausted", "deleting", "deleted"]


class Schedule(TypedDict):
    """What says how much of a campaign's budget is due by when."""

    flight: Flight
    time_zone: str
    budget: Budget


class CampaignMoney(Schedule):
    """All that says whether a campaign's money is due a change.

    A campaign that was never activated has no balance.
    """

    _id: str
    status: Status
    pricing: Pricing
    balance: NotRequired[Balance]


class StoredCampaign(CampaignMoney):
    """A campaign as it is stored.

    An exhausted one says what it lacks: budget due by now, or its advertiser's funds.
    """

    caps: Annotated[list[Annotated[Cap, OPAQUE]], AtMost(MAX_CAPS)]
    targets: Annotated[list[Target], AtMost(MAX_TARGETS)]
    ad_units: Annotated[list[Annotated[AdUnit, OPAQUE]], AtMost(MAX_AD_UNITS)]
    deleted_at: NotRequired[datetime]
    exhausted_by: NotRequired[Literal["budget", "funds"]]


CAMPAIGNS = Collection(
    "ad.campaign",
    StoredCampaign,
    indexes=(IndexModel([("status", ASCENDING), ("flight.end", ASCENDING)]),),
)


# The fields of `CampaignMoney`, beside the id.
MONEY = {"status": 1, "pricing": 1, "budget": 1, "flight": 1, "time_zone": 1, "balance": 1}
# The states of a campaign that was deleted: docs/decisions/0082.
GONE = ("deleting", "deleted")


def price_micros(pricing: Pricing) -> int:
    """Return what one billed event costs: a CPM ad's impression, a CPC ad's click."""
    bid = pricing["bid_micros"]
    return bid // 1_000 if pricing["type"] == "cpm" else bid


def get(
    database: Database[Document], campaign_id: str, session: ClientSession | None = None
) -> StoredCampaign:
    """Return a campaign; raises UnknownCampaign, also for one that was deleted."""
    campaign = CAMPAIGNS.of(database).find_one({"_id": campaign_id}, session=session)
    if campaign is None or campaign["status"] in GONE:
        raise UnknownCampaign
    return campaign


# The keywords of an ad unit: bounded, distinct.

MAX_KEYWORDS = 32


MAX_KEYWORD_BYTES = 1_024


def distinct(keywords: list[str]) -> list[str]:
    """Return each keyword once; raises ValueError if they take too many bytes."""
    found = list(dict.fromkeys(keywords))
    if sum(len(keyword.encode()) for keyword in found) > MAX_KEYWORD_BYTES:
        raise ValueError(f"the keywords of an ad unit must have at most {MAX_KEYWORD_BYTES} bytes")
    return found


Keywords = Annotated[list[Keyword], Field(max_length=MAX_KEYWORDS), AfterValidator(distinct)]
