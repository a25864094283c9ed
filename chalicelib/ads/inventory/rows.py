"""Rows: the ads of active campaigns in a zone."""

from datetime import datetime
from typing import NotRequired, TypedDict, final

from chalicelib.ads.inventory.campaigns import StoredCap, StoredPricing
from chalicelib.ads.inventory.creatives import Placed


class Ranked(TypedDict):
    """A row's key within its zone, and the eCPM that ranks it."""

    campaign_id: str
    ad_unit_id: str
    ecpm_micros: int


@final
class AdRow(Ranked, Placed):
    """A row with every field for choosing, showing and billing its ad."""

    pricing: StoredPricing
    start: datetime
    end: datetime
    keywords: list[str]
    caps: list[StoredCap]


@final
class BriefRow(Ranked):
    """The fields of a row that decide on its place in a zone (`BRIEF_ROW`)."""

    pricing: StoredPricing
    creative_type: NotRequired[str]


class BriefRows(TypedDict):
    """A zone's rows, each in brief."""

    ads: list[BriefRow]


# The projection to a `BriefRow`, within a `$map` over rows.
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
    """Return a row's key within its zone: (campaign id, ad unit id)."""
    return row["campaign_id"], row["ad_unit_id"]
