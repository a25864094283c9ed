"""Details as pairs of key and value, under one index that is ordered by price, too."""

from collections.abc import Mapping, Sequence
from typing import Any

from chalicelib.database import Document
from chalicelib.shop.sites.settings import LayoutName
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
