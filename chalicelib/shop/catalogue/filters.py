"""The database filter of a list of products."""

from collections.abc import Mapping, Sequence

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.shop import types
from chalicelib.shop.catalogue import layouts
from chalicelib.shop.catalogue.listing_forms import MAX_FACET_VALUES, MAX_FACETS, ProductsQuery
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
    return {
        "site": shop["_id"],
        "state": "active",
        "under": _places(query),
        **_price_filter(query),
        **_words_filter(words),
        **layouts.matching(shop, facets),
    }


def _is_value(
    database: Database[Document], shop: ShopSite, query: ProductsQuery, name: str, text: str
) -> bool:
    """Return whether a text with a comma is a single value of the shop's products."""
    if "," not in text:
        return True
    meant = types.facet_values(query.type, name, text)
    everywhere = {"site": shop["_id"], "state": "active", "under": EVERYWHERE}
    where = {**everywhere, **layouts.matching(shop, {name: meant})}
    return PRODUCTS.of(database).find_one(where, {"_id": 1}) is not None


def _places(query: ProductsQuery) -> str | Document:
    """Return the condition on places; the index is searched by the first place."""
    places = [
        *([of_tag(query.tag)] if query.tag else []),
        *([query.category] if query.category else []),
        *([of_type(query.type)] if query.type else []),
    ]
    return {"$all": places} if len(places) > 1 else (places or [EVERYWHERE])[0]


def _price_filter(query: ProductsQuery) -> Document:
    least, greatest = query.price_micros
    bounds: Document = {}
    if least is not None:
        bounds["$gte"] = least
    if greatest is not None:
        bounds["$lte"] = greatest
    return {"price_micros": bounds} if bounds else {}


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
