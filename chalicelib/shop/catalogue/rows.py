"""Products as they are stored: the collection, its indexes, and finding one."""

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
# The shop, the type, the tags, and twenty categories with those above them, twelve deep.
MAX_UNDER = 2 + MAX_TAGS + MAX_CATEGORIES * 12
# The place of every product of a shop, so that the whole shop is listed as a category is.
EVERYWHERE = "/"

State = Literal["draft", "active", "archived"]


class Sku(TypedDict):
    """What is sold by one code: a size, a colour, a binding."""

    sku: str
    options: dict[str, str]
    price_micros: int


class Pair(TypedDict):
    """A detail in the layout `attributes`."""

    k: str
    v: str | int | float | bool


class Product(TypedDict):
    """A product. `price_micros` is its least; `under` is every place that it is listed in.

    `under` is derived: `/`, its type and its tags (`of_type`, `tagged`), its categories and those
    above them. So a list by any of them is one range of one index, in the order of price or time.
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
    categories: Annotated[list[str], AtMost(MAX_CATEGORIES)]
    under: Annotated[list[str], AtMost(MAX_UNDER)]
    tags: Annotated[list[str], AtMost(MAX_TAGS)]
    assets: Annotated[list[str], AtMost(MAX_ASSETS)]
    search: Annotated[list[str], AtMost(MAX_STORED_TOKENS)]
    added: datetime
    updated: datetime
    layout: LayoutName
    details: NotRequired[dict[str, Any]]
    attributes: NotRequired[Annotated[list[Pair], AtMost(MAX_VALUES)]]


_WITHIN = (("site", ASCENDING), ("state", ASCENDING))
_BY_PRICE = (("price_micros", ASCENDING), ("_id", ASCENDING))

PRODUCTS = Collection(
    "shop.product",
    Product,
    indexes=(
        IndexModel([*_WITHIN, ("under", ASCENDING), *_BY_PRICE]),
        IndexModel([*_WITHIN, ("under", ASCENDING), ("added", DESCENDING), ("_id", ASCENDING)]),
        # An index cannot hold two arrays, so it has no `under`.
        IndexModel(
            [*_WITHIN, ("attributes.k", ASCENDING), ("attributes.v", ASCENDING), *_BY_PRICE],
            partialFilterExpression={"layout": "attributes"},
        ),
        # Of all shops: before MongoDB 7, a wildcard index has no other fields.
        IndexModel([("details.$**", ASCENDING)]),
        IndexModel([("site", ASCENDING), ("search", "text")], default_language="none"),
        IndexModel([("site", ASCENDING), ("skus.sku", ASCENDING)]),
    ),
    shard_key={"site": 1, "_id": 1},
)


def of_type(name: str) -> str:
    """Return the place of the products of a type."""
    return f":{name}"


def tagged(tag: str) -> str:
    """Return the place of the products with a tag."""
    return f"#{tag}"


def under(kind: str, tags: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    """Return every place that a product is listed in; `lines` are its categories from the root."""
    categories = dict.fromkeys(name for line in lines for name in line)
    return [EVERYWHERE, of_type(kind), *map(tagged, tags), *categories]


def under_of_stored(lines: Iterable[Sequence[str]]) -> Document:
    """Return the expression of `under` for any product with these categories from the root."""
    categories = list(dict.fromkeys(name for line in lines for name in line))
    kind = {"$concat": [of_type(""), "$type"]}
    tags = {"$map": {"input": "$tags", "in": {"$concat": [tagged(""), "$$this"]}}}
    return {"$concatArrays": [[EVERYWHERE, kind], tags, {"$literal": categories}]}


def find(
    database: Database[Document],
    site: str,
    product_id: str,
    session: ClientSession | None = None,
) -> Product:
    """Return a product of a shop, whatever its state; raises UnknownProduct."""
    where = {"_id": key_of(site, product_id), "site": site}
    found = PRODUCTS.of(database).find_one(where, session=session)
    if found is None:
        raise UnknownProduct
    return found
