"""Ids of the ad network: advertisers, campaigns, ad units, sites, zones, visitors."""

from typing import Annotated

from pydantic import (
    AfterValidator,
    StringConstraints,
)

# A part of an id: an advertiser, a campaign of it, an ad unit, a site, a zone.
_PART = "[a-z0-9_-]{1,64}"


PartId = Annotated[str, StringConstraints(pattern=f"^{_PART}$")]


# Path segments that are no sites: those of beacons, clicks and conversions.
RESERVED_SITES = frozenset({"events", "click", "conversions"})


def _not_reserved(site_id: str) -> str:
    if site_id in RESERVED_SITES:
        raise ValueError("this name is reserved")
    return site_id


SiteId = Annotated[PartId, AfterValidator(_not_reserved)]


CampaignId = Annotated[str, StringConstraints(pattern=f"^{_PART}:{_PART}$")]


def advertiser_of(campaign_id: str) -> str:
    """Return the advertiser of a campaign."""
    return campaign_id.partition(":")[0]
