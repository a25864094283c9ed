"""Layouts of a product's details: a sub-document, or pairs of key and value."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from chalicelib.database import Document
from chalicelib.shop.settings import LayoutName, ShopSite
from chalicelib.shop.types import Value, is_list, values_of


class AttributesLayout:
    """`attributes: [{k: "colour", v: "red"}, {k: "fits", v: "28 inch"}]`."""

    name: LayoutName = "attributes"

    def to_stored(self, details: Mapping[str, Any]) -> Document:
        """Return the fields of a product with these details."""
        pairs = [{"k": key, "v": value} for key, value in values_of(details)]
        return {"layout": self.name, "attributes": pairs}

    def details(self, product: Mapping[str, Any]) -> dict[str, Any]:
        """Return the details of a product in this layout."""
        found: dict[str, Any] = {}
        for pair in product["attributes"]:
            found.setdefault(pair["k"], []).append(pair["v"])
        kind = product["type"]
        # An unregistered type does not say whether a detail is a list: several values are a list.
        return {
            key: values if is_list(kind, key) or len(values) > 1 else values[0]
            for key, values in found.items()
        }

    def matching(self, wanted: Mapping[str, Sequence[Value]]) -> Document:
        """Return the filter of its products with a matching value for each key."""
        having = [
            {"attributes": {"$elemMatch": {"k": key, "v": {"$in": list(values)}}}}
            for key, values in wanted.items()
        ]
        return {"layout": self.name, **({"$and": having} if having else {})}


class DetailsLayout:
    """`details: {colour: "red", fits: ["28 inch"]}`."""

    name: LayoutName = "details"

    def to_stored(self, details: Mapping[str, Any]) -> Document:
        """Return the fields of a product with these details."""
        return {"layout": self.name, "details": dict(details)}

    def details(self, product: Mapping[str, Any]) -> dict[str, Any]:
        """Return the details of a product in this layout."""
        return dict(product["details"])

    def matching(self, wanted: Mapping[str, Sequence[Value]]) -> Document:
        """Return the filter of its products with a matching value for each key."""
        having = {f"details.{key}": {"$in": list(values)} for key, values in wanted.items()}
        return {"layout": self.name, **having}


class ProductLayout(Protocol):
    """A way to store details."""

    name: LayoutName

    def to_stored(self, details: Mapping[str, Any]) -> Document:
        """Return the fields of a product with these details."""

    def details(self, product: Mapping[str, Any]) -> dict[str, Any]:
        """Return the details of a product in this layout."""

    def matching(self, wanted: Mapping[str, Sequence[Value]]) -> Document:
        """Return the filter of its products with a matching value for each key."""


LAYOUTS: dict[LayoutName, ProductLayout] = {
    each.name: each for each in (DetailsLayout(), AttributesLayout())
}


def details_of(product: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details of a product in any layout."""
    return LAYOUTS[product["layout"]].details(product)


def to_stored(shop: ShopSite, details: Mapping[str, Any]) -> Document:
    """Return the fields of details for a new product, in the shop's layout."""
    return LAYOUTS[shop["layout"]].to_stored(details)


def matching(shop: ShopSite, wanted: Mapping[str, Sequence[Value]]) -> Document:
    """Return the filter of a shop's products with a matching value for each key.

    During a rewrite, products have either layout.
    """
    if not wanted:
        return {}
    if not shop.get("is_rewriting"):
        return LAYOUTS[shop["layout"]].matching(wanted)
    return {"$or": [each.matching(wanted) for each in LAYOUTS.values()]}
