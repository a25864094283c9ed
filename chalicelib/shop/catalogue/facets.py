"""Counts of products by the values of facets, and by category."""

from collections.abc import Iterable, Sequence
from typing import Any

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.shop import types
from chalicelib.shop.catalogue import filters
from chalicelib.shop.catalogue.filters import Facets
from chalicelib.shop.catalogue.listing_forms import FacetAnswer, ProductsQuery
from chalicelib.shop.catalogue.rows import PRODUCTS
from chalicelib.shop.catalogue.words import SearchWords
from chalicelib.shop.settings import ShopSite

MAX_VALUES = 100
# Both layouts as pairs; a value may be a list.
_PAIRS = {
    "$concatArrays": [
        {"$ifNull": ["$attributes", []]},
        {"$objectToArray": {"$ifNull": ["$details", {}]}},
    ]
}


def count_facets(
    runtime: Runtime,
    shop: ShopSite,
    query: ProductsQuery,
    chosen: Facets,
    words: SearchWords | None,
) -> tuple[list[FacetAnswer], int]:
    """Return the counts of each facet's values, and the number of counted products.

    The counts of a facet ignore its own chosen values: they show the result of another choice. Each
    count reads at most `counted_products` products.
    """
    declared = types.facets_of(query.type)
    open_ones = [name for name in declared if name not in chosen]
    values, counted = _counts(runtime, filters.of(shop, query, chosen, words), open_ones)
    for name in chosen:
        others = {each: chosen[each] for each in chosen if each != name}
        values |= _counts(runtime, filters.of(shop, query, others, words), [name])[0]
    return [_facet(name, values[name]) for name in declared if values.get(name)], counted


def count_below(runtime: Runtime, site: str, categories: Sequence[str]) -> dict[str, int]:
    """Return the number of active products in and below each category, by category.

    The first category contains the others. Only its first `counted_products` products count.
    """
    top = categories[0]
    rows: Any = PRODUCTS.read_as(dict[str, Any], runtime.database).aggregate(
        [
            {"$match": {"site": site, "state": "active", "under": top}},
            {"$limit": runtime.bounds.shop.counted_products},
            # Keep only the requested places, of up to 262: each place costs in `$unwind`.
            {"$project": {"under": {"$setIntersection": ["$under", list(categories)]}}},
            {"$unwind": "$under"},
            {"$group": {"_id": "$under", "products": {"$sum": 1}}},
        ]
    )
    return {each["_id"]: each["products"] for each in rows}


def _counts(
    runtime: Runtime, where: Document, names: Iterable[str]
) -> tuple[dict[str, list[tuple[Any, int]]], int]:
    rows: Any = PRODUCTS.read_as(dict[str, Any], runtime.database).aggregate(
        [
            {"$match": where},
            {"$limit": runtime.bounds.shop.counted_products},
            {"$project": {"pair": _PAIRS}},
            {
                "$facet": {
                    "counted": [{"$count": "products"}],
                    "values": [
                        {"$unwind": "$pair"},
                        {"$match": {"pair.k": {"$in": list(names)}}},
                        {"$unwind": "$pair.v"},
                        {"$group": {"_id": "$pair", "products": {"$sum": 1}}},
                    ],
                }
            },
        ]
    )
    (row,) = rows
    values: dict[str, list[tuple[Any, int]]] = {}
    for each in row["values"]:
        values.setdefault(each["_id"]["k"], []).append((each["_id"]["v"], each["products"]))
    return values, next((each["products"] for each in row["counted"]), 0)


def _facet(name: str, values: list[tuple[Any, int]]) -> FacetAnswer:
    most = sorted(values, key=lambda each: (-each[1], str(each[0])))[:MAX_VALUES]
    return {
        "name": name,
        "values": [{"value": value, "products": products} for value, products in most],
    }
