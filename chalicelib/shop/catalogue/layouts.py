"""Layouts of a product's details: a sub-document, or pairs of key and value."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from chalicelib.database import Document
from chalicelib.shop.settings import LayoutName, ShopSite
from chalicelib.shop.types import Value, is_list, values_of


class AttributesLayout:
    """`attributes: [{k: "colour", v: "red"}, {k: "fits", v: "28 inch"}]`."""

    name: LayoutName = "attributes"

    def stored(self, details: Mapping[str, Any]) -> Document:
        """Return the fields of a product that has these details."""
        pairs = [{"k": key, "v": value} for key, value in values_of(details)]
        return {"layout": self.name, "attributes": pairs}

    def details(self, product: Mapping[str, Any]) -> dict[str, Any]:
        """Return the details of a product that is kept in this layout."""
        found: dict[str, Any] = {}
        for pair in product["attributes"]:
            found.setdefault(pair["k"], []).append(pair["v"])
        kind = product["type"]
        # A type that is no longer registered: several values are a list.
        return {
            key: values if is_list(kind, key) or len(values) > 1 else values[0]
            for key, values in found.items()
        }

    def matching(self, wanted: Mapping[str, Sequence[Value]]) -> Document:
        """Return the filter of its products that have, for each key, one of the values."""
        having = [
            {"attributes": {"$elemMatch": {"k": key, "v": {"$in": list(values)}}}}
            for key, values in wanted.items()
        ]
        return {"layout": self.name, **({"$and": having} if having else {})}


class DetailsLayout:
    """`details: {colour: "red", fits: ["28 inch"]}`."""

    name: LayoutName = "details"

    def stored(self, details: Mapping[str, Any]) -> Document:
        """Return the fields of a product that has these details."""
        return {"layout": self.name, "details": dict(details)}

    def details(self, product: Mapping[str, Any]) -> dict[str, Any]:
        """Return the details of a product that is kept in this layout."""
        return dict(product["details"])

    def matching(self, wanted: Mapping[str, Sequence[Value]]) -> Document:
        """Return the filter of its products that have, for each key, one of the values."""
        having = {f"details.{key}": {"$in": list(values)} for key, values in wanted.items()}
        return {"layout": self.name, **having}


class Layout(Protocol):
    """One way to keep details."""

    name: LayoutName

    def stored(self, details: Mapping[str, Any]) -> Document:
        """Return the fields of a product that has these details."""

    def details(self, product: Mapping[str, Any]) -> dict[str, Any]:
        """Return the details of a product that is kept in this layout."""

    def matching(self, wanted: Mapping[str, Sequence[Value]]) -> Document:
        """Return the filter of its products that have, for each key, one of the values."""


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
