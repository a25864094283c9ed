"""The database filter of a list of products."""

from collections.abc import Mapping, Sequence

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.shop import types
from chalicelib.shop.catalogue import layouts, prices
from chalicelib.shop.catalogue.listing_forms import MAX_FACET_VALUES, MAX_FACETS, ProductsQuery
from chalicelib.shop.catalogue.prices import PriceBounds
from chalicelib.shop.catalogue.rows import EVERYWHERE, PRODUCTS, of_tag, of_type
from chalicelib.shop.catalogue.words import SearchWords
from chalicelib.shop.settings import ShopSite
from chalicelib.shop.types import Value

Facets = Mapping[str, Sequence[Value]]


def chosen_facets(database: Database[Document], shop: ShopSite, query: ProductsQuery) -> Facets:
    """Return the chosen values of each facet; raises InvalidRequest."""
    declared, chosen = types.facets_of(query.type), query.chosen
    if len(chosen) > MAX_FACETS:
        raise _invalid("f", "too_many_facets", f"at most {MAX_FACETS} facets may be chosen")
    found: dict[str, list[Value]] = {}
    for name, texts in chosen.items():
        if name not in declared:
            raise _invalid(f"f.{name}", "unknown_facet", "no type of product has this facet")
        values = [each for each in texts if each]
        if len(texts) == 1 and not _is_value(database, shop, query, name, texts[0]):
            values = [each for each in texts[0].split(",") if each]
        if not 1 <= len(values) <= MAX_FACET_VALUES:
            detail = f"a facet is chosen with 1 to {MAX_FACET_VALUES} values"
            raise _invalid(f"f.{name}", "too_many_values", detail)
        found[name] = [
            meant for each in values for meant in types.facet_values(query.type, name, each)
        ]
    return found


def of(shop: ShopSite, query: ProductsQuery, facets: Facets, words: SearchWords | None) -> Document:
    """Return the filter of the products in a list."""
    return at_prices(at_any_price(shop, query, facets, words), query.price_range)


def at_any_price(
    shop: ShopSite, query: ProductsQuery, facets: Facets, words: SearchWords | None
) -> Document:
    """Return the filter of the products in a list, without its range of prices."""
    return {
        "site": shop["_id"],
        "state": "active",
        "under": _places(query),
        **_words_filter(words),
        **layouts.matching(shop, facets),
    }


def at_prices(where: Document, wanted: PriceBounds) -> Document:
    """Return a filter narrowed to the products with a price in a range."""
    parts = prices.parts(wanted)
    if len(parts) == 1:
        return narrow(where, parts[0])
    if "$text" in where:
        return narrow(where, [{"$or": [condition for part in parts for condition in part]}])
    # All conditions in each branch: the server then finds an index for each branch.
    return {"$or": [narrow(where, part) for part in parts]}


def narrow(where: Document, conditions: Sequence[Document]) -> Document:
    """Return a filter with further conditions."""
    return {**where, "$and": [*where.get("$and", []), *conditions]} if conditions else where


def _is_value(
    database: Database[Document], shop: ShopSite, query: ProductsQuery, name: str, text: str
) -> bool:
    """Return whether a text is a single value: without a comma, or a value of an active product."""
    if "," not in text:
        return True
    meant = types.facet_values(query.type, name, text)
    everywhere = {"site": shop["_id"], "state": "active", "under": EVERYWHERE}
    where = {**everywhere, **layouts.matching(shop, {name: meant})}
    return PRODUCTS.of(database).find_one(where, {"_id": 1}) is not None


def _places(query: ProductsQuery) -> str | Document:
    """Return the condition on places; the server searches the index by the first place."""
    places = [
        *([of_tag(query.tag)] if query.tag else []),
        *([query.category] if query.category else []),
        *([of_type(query.type)] if query.type else []),
    ]
    return {"$all": places} if len(places) > 1 else (places or [EVERYWHERE])[0]


def _words_filter(words: SearchWords | None) -> Document:
    """Return the filter of products with all words of a search.

    The text index finds a superset: the server splits words by rules of its own.
    """
    if words is None:
        return {}
    entered = {"$text": {"$search": words.entry}} if words.entry is not None else {}
    return {**entered, "search": {"$all": words.all}}


def _invalid(field: str, code: str, detail: str) -> InvalidRequest:
    return InvalidRequest(errors=[FieldError(field, code, detail)])
