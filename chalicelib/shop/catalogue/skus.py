"""SKUs: a document per SKU makes the SKU unique among the products of its shop.

A unique index on the products' SKUs cannot: it would have to begin with the products' shard key.
"""

from collections.abc import Collection as Names
from typing import NamedTuple, TypedDict

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.shop.errors import SkuTaken
from chalicelib.shop.ids import key_of, name_of


class ClaimedSku(TypedDict):
    """A SKU, `site:sku`, and its product."""

    _id: str
    product: str


SKUS = Collection("shop.sku", ClaimedSku)


class SkuClaim(NamedTuple):
    """The new SKUs of a product (`codes`), and its former SKUs (`before`)."""

    site: str
    product_id: str
    codes: Names[str]
    before: Names[str]


def take(database: Database[Document], claim: SkuClaim, session: ClientSession) -> None:
    """Store the added SKUs of a product and delete its dropped SKUs; raises SkuTaken.

    The session has the transaction that writes the product. If two products claim a SKU at once,
    their transactions conflict, and the second runs again.
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
