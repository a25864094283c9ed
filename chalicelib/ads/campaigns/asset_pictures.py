"""Assets as pictures of ad units: each in its current version at the write of the campaign.

An ad has the address of a version, which never changes, so the advertiser's choice stays. A later
version shows only after another write of the campaign.
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
    """An asset, and the address of its version in an ad."""

    asset_id: str
    url: str


def find(
    runtime: Runtime, caller: Principal, campaign_id: str, campaign: Campaign
) -> dict[str, ShownAsset]:
    """Return the assets among a campaign's pictures, by the URLs of the request.

    Raises UnknownAsset for an asset that neither the caller may show nor the campaign shows.
    """
    base = runtime.settings.public_url
    images = [
        each.creative for each in campaign.ad_units if isinstance(each.creative, ImageCreative)
    ]
    found = {image.url: named for image in images if (named := _parse_url(base, image.url))}
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
    """Return the version to show: `asked` or the current; raises UnknownAsset if it is missing."""
    if asked is not None and not 1 <= asked <= current:
        raise UnknownAsset
    return asked or current


def _parse_url(base: str, url: str) -> tuple[str, int | None] | None:
    """Return the asset and the version in a URL, (id, version); None: no asset.

    Without a version: the current version. Raises UnknownAsset for another path.
    """
    if asset_id := pictures.parse_reference(url):
        return asset_id, None
    address = _ADDRESS.fullmatch(url)
    if address is None or address["base"] != base:
        if url.startswith("/"):
            raise UnknownAsset
        return None
    return address["id"], int(address["number"])


def put_into(ad_units: list[dict[str, Any]], assets: Mapping[str, ShownAsset]) -> None:
    """Write the ids and addresses of assets into ad units before their storage."""
    for unit in ad_units:
        shown = assets.get(unit["creative"].get("url", ""))
        if shown is not None:
            unit["asset"], unit["creative"]["url"] = shown
