"""The layouts by their names, and both together while products are rewritten."""

from collections.abc import Mapping, Sequence
from typing import Any

from chalicelib.database import Document
from chalicelib.shop.layouts.attributes import AttributesLayout
from chalicelib.shop.layouts.details import DetailsLayout
from chalicelib.shop.layouts.layout import Layout
from chalicelib.shop.sites.settings import LayoutName, ShopSite
from chalicelib.shop.types import Value

LAYOUTS: dict[LayoutName, Layout] = {
    each.name: each for each in (DetailsLayout(), AttributesLayout())
}


def details_of(product: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details of a product, in whichever layout it keeps them."""
    return LAYOUTS[product["layout"]].details(product)


def stored(shop: ShopSite, details: Mapping[str, Any]) -> Document:
    """Return the fields by which a shop's new products keep their details."""
    return LAYOUTS[shop["layout"]].stored(details)


def matching(shop: ShopSite, wanted: Mapping[str, Sequence[Value]]) -> Document:
    """Return the filter of a shop's products that have, for each key, one of the values.

    While products are rewritten, some are in one layout and some in the other.
    """
    if not wanted:
        return {}
    if not shop.get("is_rewriting"):
        return LAYOUTS[shop["layout"]].matching(wanted)
    return {"$or": [each.matching(wanted) for each in LAYOUTS.values()]}
