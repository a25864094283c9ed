"""Pages of products in each order of a list, after a cursor's position."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypedDict

from pymongo import ASCENDING, DESCENDING

from chalicelib.database import Document
from chalicelib.instants import milliseconds, moment
from chalicelib.runtime import Runtime
from chalicelib.shop.catalogue import prices
from chalicelib.shop.catalogue.filters import at_prices, narrow
from chalicelib.shop.catalogue.listing_forms import Order
from chalicelib.shop.catalogue.prices import PriceBounds
from chalicelib.shop.catalogue.rows import PRODUCTS, Product

# The server's text score of a token; the cursors of clients contain multiples of it.
_TOKEN = 1.1
_LISTED = {"text": 0, "html": 0, "search": 0, "under": 0}
SORTS: dict[Order, list[tuple[str, int]]] = {
    "price": [("price_micros", ASCENDING), ("_id", ASCENDING)],
    "-price": [("price_micros", DESCENDING), ("_id", DESCENDING)],
    "newest": [("added", DESCENDING), ("_id", ASCENDING)],
}


class _Ranked(TypedDict):
    _id: str
    score: float


class ProductListing(NamedTuple):
    """A list of products: its filter without prices, and the words that `best` scores."""

    where: Document
    order: Order
    prices: PriceBounds = PriceBounds()
    words: Sequence[str] = ()


class ListedProduct(NamedTuple):
    """A product of a page, with its cursor position."""

    product: Product
    position: list[Any]


def page(
    runtime: Runtime, wanted: ProductListing, after: Sequence[Any] | None, most: int
) -> list[ListedProduct]:
    """Return at most `most` products of a list after a position."""
    order, found = wanted.order, list[ListedProduct]()
    if order == "best":
        return _best(runtime, wanted, after, most)
    where = narrow(wanted.where, _after(order, after) if after else [])
    for part in parts(where, order, wanted.prices):
        rows = PRODUCTS.of(runtime.database).find(part, _LISTED).sort(SORTS[order])
        rest = rows.limit(most - len(found))
        found += [ListedProduct(each, _position(order, each)) for each in rest]
        if len(found) == most:
            break
    return found


def parts(where: Document, order: Order, wanted: PriceBounds) -> list[Document]:
    """Return a filter for each part of a list, in the list's order."""
    if order == "newest":
        return [at_prices(where, wanted)]
    rising = [narrow(where, part) for part in prices.parts(wanted)]
    return rising if order == "price" else rising[::-1]


def _position(order: Order, product: Product) -> list[Any]:
    if order == "newest":
        return [milliseconds(product["added"]), product["_id"]]
    return [product["price_micros"], product["_id"]]


def _after(order: Order, position: Sequence[Any]) -> list[Document]:
    """Return the conditions of products after a position; the first bounds the index."""
    (field, direction), (_, of_ids) = SORTS[order]
    value = moment(position[0]) if order == "newest" else position[0]
    beyond, last = ("$gt" if way == ASCENDING else "$lt" for way in (direction, of_ids))
    return [
        {field: {f"{beyond}e": value}},
        {"$or": [{field: {beyond: value}}, {field: value, "_id": {last: position[1]}}]},
    ]


def _best(
    runtime: Runtime, wanted: ProductListing, after: Sequence[Any] | None, most: int
) -> list[ListedProduct]:
    """Return products by their score, the best first.

    A product's score counts the words of the search among its stored tokens; a product stores each
    token once or several times, by its weight. The server's own score would also read the frequent
    words of the index.
    """
    bounds = runtime.bounds.shop
    having = {"$in": ["$$this", {"$literal": list(wanted.words)}]}
    found = {"$filter": {"input": "$search", "as": "this", "cond": having}}
    score = {"$multiply": [_TOKEN, {"$size": found}]}
    later: list[Document] = []
    if after:
        last, key = after
        ties = {"score": last, "_id": {"$gt": key}}
        later = [{"$match": {"$or": [{"score": {"$lt": last}}, ties]}}]
    ranked = PRODUCTS.read_as(_Ranked, runtime.database).aggregate(
        [
            *_score_stages(wanted, bounds.scored_products),
            {"$project": {"score": score}},
            {"$sort": {"score": -1, "_id": 1}},
            {"$limit": bounds.best_products},
            *later,
            {"$limit": most},
        ]
    )
    scores = {each["_id"]: each["score"] for each in ranked}
    ranked_ones = {"site": wanted.where["site"], "_id": {"$in": list(scores)}}
    rows = {each["_id"]: each for each in PRODUCTS.of(runtime.database).find(ranked_ones, _LISTED)}
    return [ListedProduct(rows[key], [score, key]) for key, score in scores.items() if key in rows]


def _score_stages(wanted: ProductListing, most: int) -> list[Document]:
    """Return the stages that find the products to score, a bounded number for any search.

    With a rare word, score all its products. With frequent words alone, score the newest products.
    """
    where = wanted.where
    if "$text" in where:
        return [{"$match": at_prices(where, wanted.prices)}]
    listed = {name: condition for name, condition in where.items() if name != "search"}
    newest: list[Document] = [{"$sort": dict(SORTS["newest"])}, {"$limit": most}]
    return [
        {"$match": at_prices(listed, wanted.prices)},
        *newest,
        {"$match": {"search": where["search"]}},
    ]
