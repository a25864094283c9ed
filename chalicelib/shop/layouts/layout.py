"""The protocol of a layout: how a product keeps its details, and how it is found by them."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from chalicelib.database import Document
from chalicelib.shop.sites.settings import LayoutName
from chalicelib.shop.types import Value


class Layout(Protocol):
    """One way to keep details."""

    name: LayoutName

    def stored(self, details: Mapping[str, Any]) -> Document:
        """Return the fields of a product that has these details."""

    def details(self, product: Mapping[str, Any]) -> dict[str, Any]:
        """Return the details of a product that is kept in this layout."""

    def matching(self, wanted: Mapping[str, Sequence[Value]]) -> Document:
        """Return the filter of its products that have, for each key, one of the values."""
