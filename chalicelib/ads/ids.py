"""Ids of the ad network: advertisers, campaigns, ad units, zones, visitors."""

from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from chalicelib.sites.ids import SiteId

# A part of an id: an advertiser, its campaign, an ad unit, a zone.
PART = "[a-z0-9_-]{1,64}"
PartId = Annotated[str, StringConstraints(pattern=f"^{PART}$")]
# Path segments of the routes of beacons, clicks and conversions: no serving site has these ids.
RESERVED_SITES = frozenset({"events", "click", "conversions"})


def _check_reserved_names(site_id: str) -> str:
    if site_id in RESERVED_SITES:
        raise ValueError("this name is reserved")
    return site_id


# The id of a site that may have zones.
ServingSiteId = Annotated[SiteId, AfterValidator(_check_reserved_names)]
CampaignId = Annotated[str, StringConstraints(pattern=f"^{PART}:{PART}$")]


def advertiser_of(campaign_id: str) -> str:
    """Return the advertiser of a campaign."""
    return campaign_id.partition(":")[0]
