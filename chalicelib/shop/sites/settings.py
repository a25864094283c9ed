"""The settings of shops: stored by site, and read by almost every call."""

from datetime import datetime
from typing import Literal, NotRequired, TypedDict

from pymongo import ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from chalicelib.database import Collection, Document
from chalicelib.shop.errors import CurrencyFixed, UnknownShop
from chalicelib.shop.sites.models import HOLD_PERCENT, ShopSettings

LayoutName = Literal["details", "attributes"]


class ShopSite(TypedDict):
    """A shop's settings; `layout` is how its products keep their details.

    `is_rewriting` since it was `layout_chosen`, some may be kept in the other one.
    """

    _id: str
    currency: str
    hold_seconds: int
    payments: Literal["fake", "stripe"]
    layout: LayoutName
    is_rewriting: NotRequired[bool]
    layout_chosen: NotRequired[datetime]
    hold_percent: NotRequired[int]


SITES = Collection("shop.site", ShopSite)


def put(database: Database[Document], site: str, given: ShopSettings) -> ShopSite:
    """Store a shop's settings and return them; raises CurrencyFixed for another currency."""
    stored = given.model_dump(exclude={"currency"})
    try:
        found = SITES.of(database).find_one_and_update(
            {"_id": site, "currency": given.currency},
            {"$set": stored, "$setOnInsert": {"layout": "details"}},
            upsert=True,
            return_document=ReturnDocument.AFTER,
        )
    except DuplicateKeyError:
        raise CurrencyFixed from None
    assert found is not None  # noqa: S101 - it was made if it was not there
    return found


def find(database: Database[Document], site: str, session: ClientSession | None = None) -> ShopSite:
    """Return a shop's settings; raises UnknownShop."""
    found = SITES.of(database).find_one({"_id": site}, session=session)
    if found is None:
        raise UnknownShop
    return found


def hold_percent(shop: ShopSite) -> int:
    """Return the share of a SKU that carts hold together, also of a shop of earlier releases."""
    return shop.get("hold_percent", HOLD_PERCENT)
