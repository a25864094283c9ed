"""What is offered by a SKU: what carts and orders need of the catalogue, and nothing else."""

from collections.abc import Collection as Names
from typing import TypedDict

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.shop.catalogue.rows import PRODUCTS, Sku, State
from chalicelib.shop.ids import name_of


class Offer(TypedDict):
    """A SKU as it is offered now; only an `active` product is sold."""

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


def offers(
    database: Database[Document],
    site: str,
    skus: Names[str],
    session: ClientSession | None = None,
) -> dict[str, Offer]:
    """Return what a shop offers now by these SKUs; one that no product has is left out.

    Prices are micros of the shop's currency. Drafts and archived products are in it, by `state`.
    """
    wanted = {"site": site, "skus.sku": {"$in": list(skus)}}
    rows = PRODUCTS.read_as(_Offering, database).find(wanted, _FIELDS, session=session)
    return {
        each["sku"]: _offer(product, each)
        for product in rows
        for each in product["skus"]
        if each["sku"] in skus
    }


def _offer(product: _Offering, sku: Sku) -> Offer:
    return {
        "product": name_of(product["_id"]),
        "title": product["title"],
        "options": sku["options"],
        "price_micros": sku["price_micros"],
        "state": product["state"],
    }
