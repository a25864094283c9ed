"""The API's forms of campaigns and their budgets."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.ads.bounds import CAMPAIGN_BYTES, MAX_AD_UNITS, MAX_CAPS, MAX_ROWS, MAX_TARGETS
from chalicelib.ads.ids import CampaignId, PartId
from chalicelib.ads.inventory.campaigns import MAX_KEYWORDS, StoredCampaign
from chalicelib.ads.inventory.creatives import StoredAdUnit
from chalicelib.ads.inventory.fitting import Reason
from chalicelib.ads.inventory.routes import (
    HtmlCreativeAnswer,
    ImageCreativeAnswer,
    NativeCreativeAnswer,
    TextCreativeAnswer,
)
from chalicelib.ads.inventory.waiting import Unplaced
from chalicelib.keywords import MAX_KEYWORD_CHARACTERS, Keyword
from chalicelib.sites.ids import SiteId

CreativeAnswer = Annotated[
    ImageCreativeAnswer | TextCreativeAnswer | HtmlCreativeAnswer | NativeCreativeAnswer,
    Field(discriminator="type"),
]
# The API does not show deleted campaigns.
ShownStatus = Literal["draft", "active", "paused", "ended", "exhausted"]
_SHOWN: dict[str, ShownStatus] = {
    "draft": "draft",
    "active": "active",
    "paused": "paused",
    "ended": "ended",
    "exhausted": "exhausted",
}


class FlightAnswer(TypedDict):
    """When a campaign may be served: from `starts_at`, up to and without `ends_at`."""

    starts_at: datetime
    ends_at: datetime


class PricingAnswer(TypedDict):
    """What the advertiser pays: per thousand impressions (cpm), or per click (cpc)."""

    type: Literal["cpm", "cpc"]
    bid_micros: Annotated[int, Field(description="In millionths of the currency.")]


class BudgetAnswer(TypedDict):
    """What a campaign may spend, in millionths of the currency."""

    total_micros: int
    daily_micros: Annotated[int | None, Field(description="In a day of its time zone, if bounded.")]
    pacing: Annotated[
        Literal["even", "asap"],
        Field(description="Whether money is released evenly over the day or flight, or at once."),
    ]


class CapAnswer(TypedDict):
    """How often one visitor may see or click an ad, a campaign or an advertiser within a window."""

    scope: Literal["ad", "campaign", "advertiser"]
    event: Literal["impression", "click"]
    limit: int
    window_seconds: int


class TargetAnswer(TypedDict):
    """A zone that a campaign's ads are meant for."""

    site_id: SiteId
    zone_id: PartId


# In Lambda's encoding: three bytes for each byte of the request, and six for each character that
# normalising may add to a keyword.
_AD_UNITS_BYTES = 3 * CAMPAIGN_BYTES + 6 * MAX_AD_UNITS * MAX_KEYWORDS * MAX_KEYWORD_CHARACTERS
# Each row adds one id to an entry. An entry with one id has 289 bytes at most, with ids of 64
# characters.
_UNPLACED_BYTES = 300 * MAX_ROWS


class AdUnitAnswer(TypedDict):
    """One ad of a campaign."""

    id: PartId
    keywords: Annotated[list[Keyword], Field(max_length=MAX_KEYWORDS, description="Normalised.")]
    creative: CreativeAnswer


class UnplacedAnswer(TypedDict):
    """A campaign's ad units without a place in a targeted zone, and the reason."""

    site_id: SiteId
    zone_id: PartId
    reason: Annotated[
        Reason,
        Field(description="`advertiser_share`: the advertiser's better ads fill its share."),
    ]
    ad_unit_ids: Annotated[list[PartId], Field(max_length=MAX_AD_UNITS)]


class CampaignAnswer(TypedDict):
    """A campaign: its ads, their zones, and its flight, price and budget."""

    id: CampaignId
    status: Annotated[
        ShownStatus,
        Field(description="`exhausted`: it waits for money, and becomes active by itself."),
    ]
    exhausted_by: NotRequired[
        Annotated[
            Literal["budget", "funds"],
            Field(description="What an exhausted one lacks: budget, or its advertiser's funds."),
        ]
    ]
    flight: FlightAnswer
    time_zone: Annotated[str, Field(max_length=64)]
    pricing: PricingAnswer
    budget: BudgetAnswer
    caps: Annotated[list[CapAnswer], Field(max_length=MAX_CAPS)]
    targets: Annotated[list[TargetAnswer], Field(max_length=MAX_TARGETS)]
    ad_units: Annotated[
        list[AdUnitAnswer],
        Field(max_length=MAX_AD_UNITS, json_schema_extra={"x-plaza-max-bytes": _AD_UNITS_BYTES}),
    ]
    unplaced: Annotated[
        list[UnplacedAnswer],
        Field(
            max_length=MAX_ROWS,
            description="Where an active campaign's ads have no place, and why.",
            json_schema_extra={"x-plaza-max-bytes": _UNPLACED_BYTES},
        ),
    ]


class CampaignBudgetAnswer(TypedDict):
    """Where a campaign's money is, in one snapshot; `total >= available + leased + spent`."""

    campaign_id: CampaignId
    total_micros: int
    released_micros: Annotated[int, Field(description="What its pacing has released so far.")]
    available_micros: Annotated[int, Field(description="What can be promised next.")]
    leased_micros: Annotated[int, Field(description="Promised to ads that are being shown.")]
    spent_micros: int


def campaign_answer(stored: StoredCampaign, unplaced: Sequence[Unplaced]) -> CampaignAnswer:
    """Return the API's form of a campaign, with its ad units that have no place."""
    flight = stored["flight"]
    answer: CampaignAnswer = {
        "id": stored["_id"],
        "status": _SHOWN[stored["status"]],
        "flight": {"starts_at": flight["start"], "ends_at": flight["end"]},
        "time_zone": stored["time_zone"],
        "pricing": stored["pricing"],
        "budget": stored["budget"],
        "caps": [{**cap} for cap in stored["caps"]],
        "targets": [{**target} for target in stored["targets"]],
        "ad_units": [_ad_unit(unit) for unit in stored["ad_units"]],
        "unplaced": [{**each} for each in unplaced],
    }
    if stored["status"] == "exhausted":
        answer["exhausted_by"] = stored.get("exhausted_by") or "budget"
    return answer


def budget_answer(campaign_id: str, amounts: Mapping[str, int]) -> CampaignBudgetAnswer:
    """Return the API's form of a campaign's money."""
    return {
        "campaign_id": campaign_id,
        "total_micros": amounts["total_micros"],
        "released_micros": amounts["released_micros"],
        "available_micros": amounts["available_micros"],
        "leased_micros": amounts["leased_micros"],
        "spent_micros": amounts["spent_micros"],
    }


def _ad_unit(unit: StoredAdUnit) -> AdUnitAnswer:
    return {
        "id": unit["ad_unit_id"],
        "keywords": unit["keywords"],
        "creative": unit["creative"],
    }
