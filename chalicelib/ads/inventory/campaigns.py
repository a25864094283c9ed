"""The stored shapes of campaigns."""

from datetime import datetime
from typing import Annotated, Literal, NotRequired, TypedDict

from pydantic import AfterValidator, Field
from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.ads.bounds import MAX_AD_UNITS, MAX_CAPS, MAX_TARGETS
from chalicelib.ads.errors import UnknownCampaign
from chalicelib.ads.inventory.creatives import StoredAdUnit
from chalicelib.database import Collection, Document
from chalicelib.database.validators import OPAQUE, AtMost
from chalicelib.keywords import Keyword


class StoredFlight(TypedDict):
    """The time in which a campaign is served."""

    start: datetime
    end: datetime


class StoredPricing(TypedDict):
    """The advertiser's bid: for a thousand impressions (cpm) or for a click (cpc)."""

    type: Literal["cpm", "cpc"]
    bid_micros: int


class StoredBudget(TypedDict):
    """The spending limits of a campaign."""

    total_micros: int
    daily_micros: int | None
    pacing: Literal["even", "asap"]


class Balance(TypedDict):
    """The parts of a campaign's budget (`budgets.balances`).

    committed_before_micros: spent and leased before the present budget day.
    day_start: the start of that budget day.
    paced_at: even pacing has released the shares up to this instant; missing: none yet.
    """

    released_micros: int
    available_micros: int
    leased_micros: int
    spent_micros: int
    committed_before_micros: int
    day_start: datetime
    paced_at: NotRequired[datetime]


class StoredCap(TypedDict):
    """A frequency cap: one visitor's impressions or clicks of the scope within a window."""

    scope: Literal["ad", "campaign", "advertiser"]
    event: Literal["impression", "click"]
    limit: int
    window_seconds: int


class StoredTarget(TypedDict):
    """A zone's site and id."""

    site_id: str
    zone_id: str


class GroupedZone(TypedDict):
    """A row of an aggregation grouped by zone."""

    _id: StoredTarget


NoteKind = Literal["campaign.exhausted", "campaign.unfunded", "campaign.ended"]
# Notes that wait for the schedule; beyond them, the oldest go.
MAX_NOTES = 10


class CampaignNote(TypedDict):
    """A change of a campaign, to be notified to its maker."""

    kind: NoteKind
    at: datetime


Status = Literal["draft", "active", "paused", "ended", "exhausted", "deleting", "deleted"]


class Schedule(TypedDict):
    """The fields of a campaign that set the pace of its budget."""

    flight: StoredFlight
    time_zone: str
    budget: StoredBudget


class CampaignMoney(Schedule):
    """The fields of a campaign that a change of its money reads.

    A campaign has no balance before its first activation.
    """

    _id: str
    status: Status
    pricing: StoredPricing
    balance: NotRequired[Balance]


class StoredCampaign(CampaignMoney):
    """A stored campaign.

    `exhausted_by`: the money that an exhausted campaign lacks: due budget, or its advertiser's
    funds. `by`, `made`: the maker's id and the time; `by` is None after the maker's erasure, and
    both are missing in deleted campaigns and in campaigns of earlier releases.
    """

    caps: Annotated[list[Annotated[StoredCap, OPAQUE]], AtMost(MAX_CAPS)]
    targets: Annotated[list[StoredTarget], AtMost(MAX_TARGETS)]
    ad_units: Annotated[list[Annotated[StoredAdUnit, OPAQUE]], AtMost(MAX_AD_UNITS)]
    deleted_at: NotRequired[datetime]
    exhausted_by: NotRequired[Literal["budget", "funds"]]
    by: NotRequired[str | None]
    made: NotRequired[datetime]
    notes: NotRequired[Annotated[list[CampaignNote], AtMost(MAX_NOTES)]]


# The condition of the index of campaigns with notes; a query repeats it to use the index.
NOTED: Document = {"notes.at": {"$exists": True}}
CAMPAIGNS = Collection(
    "ad.campaign",
    StoredCampaign,
    indexes=(
        IndexModel([("status", ASCENDING), ("flight.end", ASCENDING)]),
        IndexModel("notes.at", partialFilterExpression=NOTED),
        # For `take_back`, which looks for money in ended campaigns every minute.
        IndexModel("status", partialFilterExpression={"balance.available_micros": {"$gt": 0}}),
        # For an erasure.
        IndexModel("by", partialFilterExpression={"by": {"$gt": ""}}),
    ),
)


# The projection to `CampaignMoney`.
MONEY = {"status": 1, "pricing": 1, "budget": 1, "flight": 1, "time_zone": 1, "balance": 1}
# The states after a deletion: docs/decisions/0082.
GONE = ("deleting", "deleted")


def price_micros(pricing: StoredPricing) -> int:
    """Return the price of one billed event: a CPM ad's impression, a CPC ad's click."""
    bid = pricing["bid_micros"]
    return bid // 1_000 if pricing["type"] == "cpm" else bid


def add_note(campaign: StoredCampaign, kind: NoteKind, at: datetime) -> list[CampaignNote]:
    """Return a campaign's notes and a new one, at most MAX_NOTES; the caller stores them."""
    new: CampaignNote = {"kind": kind, "at": at}
    return [*campaign.get("notes", ()), new][-MAX_NOTES:]


def get(
    database: Database[Document], campaign_id: str, session: ClientSession | None = None
) -> StoredCampaign:
    """Return a campaign; raises UnknownCampaign, also after its deletion."""
    campaign = CAMPAIGNS.of(database).find_one({"_id": campaign_id}, session=session)
    if campaign is None or campaign["status"] in GONE:
        raise UnknownCampaign
    return campaign


def time_zone_of(database: Database[Document], campaign_id: str) -> str:
    """Return a campaign's time zone, also after its deletion; UTC for an unknown campaign."""
    found = CAMPAIGNS.of(database).find_one({"_id": campaign_id}, {"time_zone": 1})
    return found["time_zone"] if found else "UTC"


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
