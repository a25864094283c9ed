"""Pictures of ad units that are assets: the version that is current when the campaign is written.

What an advertiser has put into a campaign stays what is shown: an ad has the address of a version,
which never changes, and a later version is shown once the campaign is written with it.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from chalicelib.ads.campaigns.forms import Campaign
from chalicelib.ads.inventory.campaigns import CAMPAIGNS
from chalicelib.ads.inventory.creatives import ImageCreative
from chalicelib.assets import pictures
from chalicelib.assets.errors import UnknownAsset
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime

_ADDRESS = re.compile(r"(?P<base>.*)/assets/(?P<id>[A-Za-z0-9_-]{16})/(?P<number>[0-9]{1,2})")


class ShownAsset(NamedTuple):
    """An asset, and the address of the version that an ad shows."""

    asset_id: str
    url: str


def find(
    runtime: Runtime, caller: Principal, campaign_id: str, campaign: Campaign
) -> dict[str, ShownAsset]:
    """Return the assets that a campaign's pictures are, by the URLs that were sent.

    Raises UnknownAsset for one that the caller may not show, unless the campaign shows it already.
    """
    base = runtime.settings.public_url
    images = [
        each.creative for each in campaign.ad_units if isinstance(each.creative, ImageCreative)
    ]
    found = {image.url: named for image in images if (named := _named(base, image.url))}
    if not found:
        return {}
    before = CAMPAIGNS.of(runtime.database).find_one({"_id": campaign_id}, {"ad_units.asset": 1})
    held = {unit.get("asset") for unit in before["ad_units"]} if before else set()
    asked = {asset_id for asset_id, _ in found.values()}
    pictures.check(runtime.database, asked - held, caller)
    numbers = pictures.current_versions(runtime.database, asked)
    return {
        url: ShownAsset(each, f"{base}/assets/{each}/{_number(number, numbers[each])}")
        for url, (each, number) in found.items()
    }


def _number(asked: int | None, current: int) -> int:
    """Return the version to be shown; raises UnknownAsset for one that is not there."""
    if asked is not None and not 1 <= asked <= current:
        raise UnknownAsset
    return asked or current


def _named(base: str, url: str) -> tuple[str, int | None] | None:
    """Return the asset that a URL names, and the version if it names one; raises UnknownAsset."""
    if asset_id := pictures.referred(url):
        return asset_id, None
    address = _ADDRESS.fullmatch(url)
    if address is None or address["base"] != base:
        if url.startswith("/"):
            raise UnknownAsset
        return None
    return address["id"], int(address["number"])


def put_into(ad_units: list[dict[str, Any]], assets: Mapping[str, ShownAsset]) -> None:
    """Write the addresses of assets, and what they are, into ad units that are to be stored."""
    for unit in ad_units:
        shown = assets.get(unit["creative"].get("url", ""))
        if shown is not None:
            unit["asset"], unit["creative"]["url"] = shown
