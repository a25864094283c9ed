"""Details as a sub-document, under one wildcard index."""

from collections.abc import Mapping, Sequence
from typing import Any

from chalicelib.database import Document
from chalicelib.shop.sites.settings import LayoutName
from chalicelib.shop.types import Value


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
