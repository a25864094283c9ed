"""A site's stored settings: its publisher's share of the ad revenue."""

from collections.abc import Collection as Names
from typing import TypedDict

from pymongo.database import Database

from chalicelib.database import Collection, Document


class Site(TypedDict):
    """A stored site."""

    _id: str
    revenue_share_bp: int


SITES = Collection("ad.site", Site)
# Shares are whole basis points: hundredths of a percent.
WHOLE_BP = 10_000
DEFAULT_SHARE_BP = 7_000


def put_share(database: Database[Document], site_id: str, share_bp: int) -> None:
    """Store a site's share, in basis points, of the revenue from now on."""
    change = {"$set": {"revenue_share_bp": share_bp}}
    SITES.of(database).update_one({"_id": site_id}, change, upsert=True)


def get_share(database: Database[Document], site_id: str) -> int:
    """Return a site's share in basis points, or the default."""
    return shares_bp(database, [site_id])[site_id]


def shares_bp(database: Database[Document], site_ids: Names[str]) -> dict[str, int]:
    """Return each site's share in basis points, or the default for a site without a share."""
    found = SITES.of(database).find({"_id": {"$in": list(site_ids)}})
    stored = {site["_id"]: site["revenue_share_bp"] for site in found}
    return {site_id: stored.get(site_id, DEFAULT_SHARE_BP) for site_id in site_ids}
