"""Lists of products and categories in the API, for customers."""

from chalicelib.http import Ok, Request, Route
from chalicelib.http.paging import Cursors, page_of
from chalicelib.shop import settings
from chalicelib.shop.catalogue import facets, filters, pages, words
from chalicelib.shop.catalogue.forms import product_summary
from chalicelib.shop.catalogue.listing_forms import (
    CategoryPageAnswer,
    CountedCategory,
    ProductsAnswer,
    ProductsQuery,
)
from chalicelib.shop.catalogue.pages import ProductListing
from chalicelib.shop.categories import reading
from chalicelib.shop.categories.forms import category_answer, crumb_answer
from chalicelib.shop.categories.rows import Category
from chalicelib.shop.errors import UnknownCategory, UnknownShop
from chalicelib.shop.ids import CategoryId, name_of
from chalicelib.sites.ids import SiteId


def declare(route: Route) -> None:
    """Declare the routes."""
    _declare_products(route)
    _declare_category(route)


def _declare_products(route: Route) -> None:
    @route("GET", "/shops/{site}/products", raises=(UnknownShop,))
    def list_products(request: Request, site: SiteId, query: ProductsQuery) -> Ok[ProductsAnswer]:
        """List a shop's products by category, type, tag, words, price and facets.

        `f.<facet>=red&f.<facet>=blue` chooses a facet's values: a product needs any of them, and
        each further facet narrows the list. The counts of a facet ignore its own chosen values.
        """
        database = request.runtime.database
        # A chosen facet is looked for in the shop's layout, which must not be out of date.
        is_by_facet = bool(query.chosen)
        shop = (
            settings.find(database, site) if is_by_facet else settings.recall(request.runtime, site)
        )
        chosen = filters.chosen_facets(database, shop, query)
        cursors = Cursors(f"products:{site}:{query.sorting}", request.runtime.settings.signing_keys)
        asked, after = words.search_words(database, site, query), cursors.position(query)
        where = filters.at_any_price(shop, query, chosen, asked)
        words_asked = asked.all if asked else ()
        wanted = ProductListing(where, query.sorting, query.price_range, words_asked)
        found = pages.page(request.runtime, wanted, after, query.limit + 1)
        shown, last = page_of(found, query.limit)
        answer: ProductsAnswer = {
            "products": [product_summary(each.product) for each in shown],
            "next": cursors.following(last.position if last else None),
        }
        if query.facets:
            answer["facets"], answer["counted"] = facets.count_facets(
                request.runtime, shop, query, chosen, asked
            )
        return Ok(answer)


def _declare_category(route: Route) -> None:
    @route("GET", "/shops/{site}/categories/{category}", raises=(UnknownCategory,))
    def get_category(
        request: Request, site: SiteId, category: CategoryId
    ) -> Ok[CategoryPageAnswer]:
        """Read a category with its ancestors, its first 2,000 children and counts of products."""
        database = request.runtime.database
        place = reading.place(database, site, category)
        names = [name_of(each["_id"]) for each in (place.category, *place.children)]
        counts = facets.count_below(request.runtime, site, names)
        others = reading.cursors(request.runtime, site, category, 1)
        last = [names[-1]] if place.has_more else None
        return Ok(
            {
                **_with_count(place.category, counts),
                "breadcrumb": [crumb_answer(each) for each in place.breadcrumb],
                "children": [_with_count(each, counts) for each in place.children],
                "next": others.following(last),
            }
        )


def _with_count(category: Category, counts: dict[str, int]) -> CountedCategory:
    answer = category_answer(category)
    return {**answer, "products": counts.get(answer["id"], 0)}
