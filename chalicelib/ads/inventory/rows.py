"""Rows: the ads of active campaigns in a zone."""

from datetime import datetime
from typing import NotRequired, TypedDict, final

from chalicelib.ads.inventory.campaigns import StoredCap, StoredPricing
from chalicelib.ads.inventory.creatives import Placed


class Ranked(TypedDict):
    """The name of a row in a zone, and its rank."""

    campaign_id: str
    ad_unit_id: str
    ecpm_micros: int


@final
class AdRow(Ranked, Placed):
    """A row with every field that choosing, showing and billing its ad takes."""

    pricing: StoredPricing
    start: datetime
    end: datetime
    keywords: list[str]
    caps: list[StoredCap]


@final
class BriefRow(Ranked):
    """A row without its creative, keywords and caps (`BRIEF_ROW`)."""

    pricing: StoredPricing
    creative_type: NotRequired[str]


class BriefRows(TypedDict):
    """A zone's rows, each in brief."""

    ads: list[BriefRow]


# A row without its creative, keywords and caps.
BRIEF_ROW = {
    "campaign_id": "$$this.campaign_id",
    "ad_unit_id": "$$this.ad_unit_id",
    "pricing": "$$this.pricing",
    "ecpm_micros": "$$this.ecpm_micros",
    "creative_type": {"$ifNull": ["$$this.creative.type", "$$this.creative_type"]},
}


def creative_type(row: AdRow | BriefRow) -> str:
    """Return the type of a row's creative."""
    return row["creative"]["type"] if "creative" in row else row["creative_type"]


def key(row: Ranked) -> tuple[str, str]:
    """Return the name of a row within its zone: (campaign, ad unit)."""
    return row["campaign_id"], row["ad_unit_id"]
