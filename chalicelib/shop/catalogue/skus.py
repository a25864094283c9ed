"""SKUs: each belongs to one product of its shop, which a document of its own makes sure of.

A unique index on products could not: it would have to begin with their shard key.
"""

from collections.abc import Collection as Names
from typing import NamedTuple, TypedDict

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.shop.errors import SkuTaken
from chalicelib.shop.ids import key_of, name_of


class ClaimedSku(TypedDict):
    """A SKU, `site:sku`, and the product that has it."""

    _id: str
    product: str


SKUS = Collection("shop.sku", ClaimedSku)


class Claim(NamedTuple):
    """The SKUs that a product will have, and those that it has had."""

    site: str
    product_id: str
    codes: Names[str]
    before: Names[str]


def take(database: Database[Document], claim: Claim, session: ClientSession) -> None:
    """Give a product its SKUs, in the transaction that writes it; raises SkuTaken.

    Two products that claim one at once conflict, and one of them is tried again.
    """
    rows, (site, product_id, codes, before) = SKUS.of(database), claim
    added = [key_of(site, code) for code in codes if code not in before]
    dropped = [key_of(site, code) for code in before if code not in codes]
    if dropped:
        rows.delete_many({"_id": {"$in": dropped}, "product": product_id}, session=session)
    if not added:
        return
    other = rows.find_one({"_id": {"$in": added}}, session=session)
    if other is not None:
        raise SkuTaken(name_of(other["_id"]), other["product"])
    rows.insert_many([{"_id": key, "product": product_id} for key in added], session=session)
