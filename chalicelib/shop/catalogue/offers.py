"""Offers of SKUs: the part of the catalogue that carts, orders and stock need."""

from collections.abc import Collection as Names
from collections.abc import Iterable
from typing import Any, TypedDict

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.shop.catalogue.rows import PRODUCTS, Sku, State
from chalicelib.shop.ids import name_of


class SkuOffer(TypedDict):
    """The current offer of a SKU; only an `active` product is for sale."""

    product: str
    title: str
    options: dict[str, str]
    price_micros: int
    state: State


class _Offering(TypedDict):
    _id: str
    title: str
    state: State
    skus: list[Sku]


_FIELDS = {"title": 1, "state": 1, "skus": 1}


def offers(database: Database[Document], site: str, skus: Names[str]) -> dict[str, SkuOffer]:
    """Return the current offers of a shop's SKUs, by SKU; an unknown SKU has no offer.

    Prices are micros of the shop's currency. Drafts and archived products have offers, too; see
    `state`.
    """
    wanted = {"site": site, "skus.sku": {"$in": list(skus)}}
    rows = PRODUCTS.read_as(_Offering, database).find(wanted, _FIELDS)
    return _offers(rows, skus)


def products_beside(sku: str) -> Document:
    """Return the `$lookup` that reads the products of a SKU into `products`, for `offer_beside`.

    The pipeline's documents need the field `site`.
    """
    return {
        "$lookup": {
            "from": PRODUCTS.name,
            "localField": "site",
            "foreignField": "site",
            "pipeline": [{"$match": {"skus.sku": sku}}, {"$project": _FIELDS}],
            "as": "products",
        }
    }


def offer_beside(products: Iterable[Any], sku: str) -> SkuOffer | None:
    """Return the current offer of a SKU, from what `products_beside` read; None: it is unknown."""
    return _offers(products, (sku,)).get(sku)


def _offers(products: Iterable[_Offering], skus: Names[str]) -> dict[str, SkuOffer]:
    return {
        each["sku"]: _offer(product, each)
        for product in products
        for each in product["skus"]
        if each["sku"] in skus
    }


def _offer(product: _Offering, sku: Sku) -> SkuOffer:
    return {
        "product": name_of(product["_id"]),
        "title": product["title"],
        "options": sku["options"],
        "price_micros": sku["price_micros"],
        "state": product["state"],
    }
