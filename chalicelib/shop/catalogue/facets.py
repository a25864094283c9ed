"""Counts of products by the values of facets, and by category."""

from collections.abc import Iterable, Mapping, Sequence
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
    each_without = {
        name: {each: chosen[each] for each in chosen if each != name} for name in chosen
    }
    first, *others = (
        _counting(runtime, filters.of(shop, query, facets, words), names)
        for facets, names in [
            (chosen, open_ones),
            *((facets, [name]) for name, facets in each_without.items()),
        ]
    )
    # In one round trip: each part has an index of its own, as a query of its own would.
    unions = [{"$unionWith": {"coll": PRODUCTS.name, "pipeline": each}} for each in others]
    rows = PRODUCTS.read_as(dict[str, Any], runtime.database).aggregate([*first, *unions])
    parts = list(rows)
    values = _values(parts)
    counted = next((each["products"] for each in parts[0]["counted"]), 0)
    return [_facet(name, values[name]) for name in declared if values.get(name)], counted


def _values(parts: Iterable[Mapping[str, Any]]) -> dict[str, list[tuple[Any, int]]]:
    """Return the counted values of each facet, from the parts of `count_facets`."""
    values: dict[str, list[tuple[Any, int]]] = {}
    for each in (value for part in parts for value in part["values"]):
        values.setdefault(each["_id"]["k"], []).append((each["_id"]["v"], each["products"]))
    return values


def _counting(runtime: Runtime, where: Document, names: Iterable[str]) -> list[Document]:
    """Return the stages that count the products of a filter, and their values of these facets."""
    return [
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


def _facet(name: str, values: list[tuple[Any, int]]) -> FacetAnswer:
    most = sorted(values, key=lambda each: (-each[1], str(each[0])))[:MAX_VALUES]
    return {
        "name": name,
        "values": [{"value": value, "products": products} for value, products in most],
    }
