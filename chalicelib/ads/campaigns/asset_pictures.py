"""Assets as pictures of ad units.

A write of a campaign replaces `asset:<id>` by the address of the asset's current version. A version
never changes, so an ad shows a later version only after another write of the campaign.
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
    """An asset's id, and the address of the version that an ad shows."""

    asset_id: str
    url: str


def find(
    runtime: Runtime, caller: Principal, campaign_id: str, campaign: Campaign
) -> dict[str, ShownAsset]:
    """Return the assets among a campaign's pictures, by their URLs in the request.

    Raises UnknownAsset for an unknown asset or version, and for an asset that the caller may not
    show, unless the stored campaign shows that asset already.
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
    """Return `asked`, or `current` for None; raises UnknownAsset unless 1 <= asked <= current."""
    if asked is not None and not 1 <= asked <= current:
        raise UnknownAsset
    return asked or current


def _parse_url(base: str, url: str) -> tuple[str, int | None] | None:
    """Return an asset URL's id and version (None: the current version); None for any other URL.

    Raises UnknownAsset for a relative URL that is not an asset's address here.
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
    """Set `asset` and the picture's URL in each of `ad_units` that shows one of these assets."""
    for unit in ad_units:
        shown = assets.get(unit["creative"].get("url", ""))
        if shown is not None:
            unit["asset"], unit["creative"]["url"] = shown
