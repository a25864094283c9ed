"""The forms in which the API answers about lists of products, and about a category."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.http import MAX_PAGE
from chalicelib.http.paging import Cursor, Next
from chalicelib.shop.products.answers import ProductSummary
from chalicelib.shop.tree.answers import CategoryAnswer, CrumbAnswer
from chalicelib.shop.tree.models import MAX_LISTED
from chalicelib.shop.types import MAX_FACETS_SHOWN, ShownValue


class FacetValueAnswer(TypedDict):
    """A value of a facet, and how many products of the list have it."""

    value: ShownValue
    products: int


class FacetAnswer(TypedDict):
    """A facet with its values, the most frequent first."""

    name: Annotated[str, Field(max_length=64)]
    values: Annotated[list[FacetValueAnswer], Field(max_length=100)]


class ProductsAnswer(TypedDict):
    """A page of products."""

    products: Annotated[list[ProductSummary], Field(max_length=MAX_PAGE)]
    facets: NotRequired[Annotated[list[FacetAnswer], Field(max_length=MAX_FACETS_SHOWN)]]
    counted: NotRequired[
        Annotated[int, Field(description="Of how many products the counts are; 10,000 at most.")]
    ]
    next: Next


class CountedCategory(CategoryAnswer):
    """A category, and how many active products lie in it and below."""

    products: Annotated[int, Field(description="10,000 at most.")]


class CategoryPageAnswer(CountedCategory):
    """A category with those above it, the highest first, and the first of those right below."""

    breadcrumb: Annotated[list[CrumbAnswer], Field(max_length=11)]
    children: Annotated[list[CountedCategory], Field(max_length=MAX_LISTED)]
    next: Annotated[
        Cursor | None,
        Field(
            description="Where there are more below, the `cursor` of the others in the list of "
            "categories `under` this one; else null."
        ),
    ]
