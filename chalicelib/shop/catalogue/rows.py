"""The collection of products, with its indexes."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, DESCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.shop.errors import UnknownProduct
from chalicelib.shop.ids import key_of
from chalicelib.shop.search import MAX_STORED_TOKENS
from chalicelib.shop.settings import LayoutName
from chalicelib.shop.types import MAX_VALUES

MAX_SKUS = 100
MAX_CATEGORIES = 20
MAX_TAGS = 20
MAX_ASSETS = 20
# The shop, the type, the tags, and twenty categories at a depth of twelve.
MAX_UNDER = 2 + MAX_TAGS + MAX_CATEGORIES * 12
# The place of every product of a shop: lists of the whole shop work like lists of a category.
EVERYWHERE = "/"

State = Literal["draft", "active", "archived"]


class Sku(TypedDict):
    """A SKU of a product: a size, a colour, a binding."""

    sku: str
    options: dict[str, str]
    price_micros: int


class AttributePair(TypedDict):
    """A detail in the layout `attributes`."""

    k: str
    v: str | int | float | bool


class Product(TypedDict):
    """A product. `price_micros` is the least price of its SKUs, `higher_micros` the other prices.

    `under` is derived: its places in lists, which are `/`, its type and tags (`of_type`, `of_tag`),
    its categories and their ancestors. So a list by any place is a single range of an index, in the
    order of price or time. `search_rules` is the version of the rules for the tokens in
    `search`; products of release 0.3.0 lack it. `counts_assets`: whether its assets count as used;
    products with assets of earlier releases lack it.
    """

    _id: str
    site: str
    type: str
    title: str
    text: str
    html: str
    state: State
    version: int
    skus: Annotated[list[Sku], AtMost(MAX_SKUS)]
    price_micros: int
    higher_micros: NotRequired[Annotated[list[int], AtMost(MAX_SKUS)]]
    categories: Annotated[list[str], AtMost(MAX_CATEGORIES)]
    under: Annotated[list[str], AtMost(MAX_UNDER)]
    tags: Annotated[list[str], AtMost(MAX_TAGS)]
    assets: Annotated[list[str], AtMost(MAX_ASSETS)]
    counts_assets: NotRequired[bool]
    search: Annotated[list[str], AtMost(MAX_STORED_TOKENS)]
    search_rules: NotRequired[int]
    added: datetime
    updated: datetime
    layout: LayoutName
    details: NotRequired[dict[str, Any]]
    attributes: NotRequired[Annotated[list[AttributePair], AtMost(MAX_VALUES)]]


_WITHIN = (("site", ASCENDING), ("state", ASCENDING))
_BY_PRICE = (("price_micros", ASCENDING), ("_id", ASCENDING))

WITH_ASSETS: Document = {"assets.0": {"$exists": True}}
PRODUCTS = Collection(
    "shop.product",
    Product,
    indexes=(
        IndexModel([*_WITHIN, ("under", ASCENDING), *_BY_PRICE]),
        # The products with several prices: in the order of the least price, and by a higher price.
        IndexModel(
            [*_WITHIN, ("under", ASCENDING), *_BY_PRICE],
            partialFilterExpression={"higher_micros": {"$exists": True}},
        ),
        IndexModel(
            [*_WITHIN, ("higher_micros", ASCENDING), *_BY_PRICE],
            partialFilterExpression={"higher_micros": {"$exists": True}},
        ),
        IndexModel([*_WITHIN, ("under", ASCENDING), ("added", DESCENDING), ("_id", ASCENDING)]),
        # An index cannot hold two arrays, so this index has no `under`.
        IndexModel(
            [*_WITHIN, ("attributes.k", ASCENDING), ("attributes.v", ASCENDING), *_BY_PRICE],
            partialFilterExpression={"layout": "attributes"},
        ),
        # For all shops together: before MongoDB 7, a wildcard index has no other fields.
        IndexModel([("details.$**", ASCENDING)]),
        IndexModel([("site", ASCENDING), ("search", "text")], default_language="none"),
        IndexModel([("site", ASCENDING), ("skus.sku", ASCENDING)]),
        # For `indexing.refresh`, and for `indexing.count_assets`.
        IndexModel([("search_rules", ASCENDING)]),
        IndexModel([("counts_assets", ASCENDING)], partialFilterExpression=WITH_ASSETS),
    ),
    shard_key={"site": 1, "_id": 1},
)


def of_type(name: str) -> str:
    """Return the place of the products of a type."""
    return f":{name}"


def of_tag(tag: str) -> str:
    """Return the place of the products with a tag."""
    return f"#{tag}"


def under(kind: str, tags: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    """Return every place of a product; a line is the path from the root to a category of it."""
    categories = dict.fromkeys(name for line in lines for name in line)
    return [EVERYWHERE, of_type(kind), *map(of_tag, tags), *categories]


def under_expression(lines: Iterable[Sequence[str]]) -> Document:
    """Return `under` as an aggregation expression, for any product with these lines."""
    categories = list(dict.fromkeys(name for line in lines for name in line))
    kind = {"$concat": [of_type(""), "$type"]}
    tags = {"$map": {"input": "$tags", "in": {"$concat": [of_tag(""), "$$this"]}}}
    return {"$concatArrays": [[EVERYWHERE, kind], tags, {"$literal": categories}]}


def find(
    database: Database[Document],
    site: str,
    product_id: str,
    session: ClientSession | None = None,
) -> Product:
    """Return a product of a shop in any state; raises UnknownProduct."""
    where = {"_id": key_of(site, product_id), "site": site}
    found = PRODUCTS.of(database).find_one(where, session=session)
    if found is None:
        raise UnknownProduct
    return found
