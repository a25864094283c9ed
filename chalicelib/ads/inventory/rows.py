"""Rows: the ads of active campaigns, as a zone holds them."""

from datetime import datetime
from typing import NotRequired, TypedDict, final

from chalicelib.ads.inventory.campaigns import Cap, Pricing
from chalicelib.ads.inventory.creatives import Placed


class Ranked(TypedDict):
    """What gives a row its rank in a zone, and names it there."""

    campaign_id: str
    ad_unit_id: str
    ecpm_micros: int


@final
class Row(Ranked, Placed):
    """A row with all that choosing, showing and charging for its ad takes."""

    pricing: Pricing
    start: datetime
    end: datetime
    keywords: list[str]
    caps: list[Cap]


@final
class BriefRow(Ranked):
    """A row without its creative, keywords and caps (`BRIEF_ROW`)."""

    pricing: Pricing
    creative_type: NotRequired[str]


class BriefRows(TypedDict):
    """A zone's rows, each in brief."""

    ads: list[BriefRow]


# A row without its creative, keywords and caps; an older one may not say of what type it is.
BRIEF_ROW = {
    "campaign_id": "$$this.campaign_id",
    "ad_unit_id": "$$this.ad_unit_id",
    "pricing": "$$this.pricing",
    "ecpm_micros": "$$this.ecpm_micros",
    "creative_type": {
        "$ifNull": ["$$this.creative.type", {"$ifNull": ["$$this.creative_type", "unknown"]}]
    },
}


def creative_type(row: Row | BriefRow) -> str:
    """Return the type of a row's creative.

    It is "unknown" in a row of an earlier release, which has no type of a large creative: a
    decision looks at the creative again.
    """
    if "creative" in row:
        return row["creative"]["type"]
    return row.get("creative_type", "unknown")


def key(row: Ranked) -> tuple[str, str]:
    """Return what names a row within its zone."""
    return row["campaign_id"], row["ad_unit_id"]
