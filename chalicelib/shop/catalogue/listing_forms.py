"""Lists of products as the API reads and shows them."""

import re
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Literal, NotRequired, Self

from pydantic import ConfigDict, Field, StringConstraints, model_validator
from typing_extensions import TypedDict

from chalicelib.currencies import MICROS
from chalicelib.http import MAX_PAGE, PageQuery
from chalicelib.http.paging import Cursor, Next
from chalicelib.shop.catalogue.forms import ProductSummary, Tag
from chalicelib.shop.catalogue.prices import PriceBounds
from chalicelib.shop.categories.forms import MAX_LISTED, CategoryAnswer, CrumbAnswer
from chalicelib.shop.ids import CategoryId
from chalicelib.shop.types import MAX_FACETS_SHOWN, ShownValue, TypeName

MAX_FACETS = 8
MAX_FACET_VALUES = 20
MAX_TEXT_CHARACTERS = 200

Order = Literal["price", "-price", "newest", "best"]
_FACET = re.compile(r"f\.([a-z0-9_]{1,40})")
_AMOUNT = r"[0-9]{1,10}(\.[0-9]{1,6})?"


class ProductsQuery(PageQuery):
    """A selection of products. `f.<facet>=red&f.<facet>=blue` chooses values of a facet."""

    # `extra`: the product types that an application registers decide the names of facets.
    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "patternProperties": {
                f"^{_FACET.pattern}$": {
                    "x-plaza-names": "f",
                    "description": (
                        "`f.<facet>`: a facet's value; repeat the parameter for several, of "
                        "which one is enough. A single parameter that is no value of the shop's is "
                        f"a list by commas. At most {MAX_FACETS} facets, {MAX_FACET_VALUES} values "
                        "each. Any other name is 422."
                    ),
                    "type": "string",
                    "minLength": 1,
                    "examples": ["red,blue"],
                }
            }
        },
    )

    category: CategoryId | None = Field(
        None, description="Products in it, and in all categories below it."
    )
    type: TypeName | None = None
    tag: Tag | None = None
    q: Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARACTERS)] | None = Field(
        None, description="Words that all occur in the title, the tags, the details or the text."
    )
    price: Annotated[str, StringConstraints(pattern=rf"^({_AMOUNT})?\.\.({_AMOUNT})?$")] | None = (
        Field(
            None,
            description="From and to, both included, in the shop's currency; either may be left "
            "out. A product is in the list if any of its SKUs has such a price.",
            examples=["5..20"],
        )
    )
    order: Order | None = Field(
        None,
        description="By price is by a product's least price, `price_micros`. `best` is for lists "
        "by `q`, which begin with it; others begin with `newest`. "
        "It ends after 1,000 products. Of words that are each in 1,000 products or more, it looks "
        "at the newest 10,000 products of the list; the other orders look at all.",
    )
    facets: bool = Field(
        False,  # noqa: FBT003 - pydantic's default
        description="Whether the answer counts the values of the facets, of the first 10,000.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.order == "best" and self.q is None:
            raise ValueError("the order best needs q")
        unknown = [name for name in self.model_extra or {} if not _FACET.fullmatch(name)]
        if unknown:
            raise ValueError(f"there is no parameter {unknown[0][:50]}")
        return self

    @property
    def sorting(self) -> Order:
        """Return the chosen order; without a choice, `best` for a search, else `newest`."""
        return self.order or ("best" if self.q is not None else "newest")

    @property
    def chosen(self) -> dict[str, list[str]]:
        """Return the chosen facets, each with the texts of its parameters."""
        given: dict[str, Any] = self.model_extra or {}
        return {
            name.removeprefix("f."): value if isinstance(value, list) else [str(value)]
            for name, value in given.items()
        }

    @property
    def price_range(self) -> PriceBounds:
        """Return the bounds of `price` in micros; None: no bound."""
        least, _, greatest = (self.price or "..").partition("..")
        return PriceBounds(_micros(least), _micros(greatest))


def _micros(amount: str) -> int | None:
    try:
        return int(Decimal(amount) * MICROS)
    except InvalidOperation:
        return None


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
    """A category with its ancestors, the highest first, and its first children."""

    breadcrumb: Annotated[list[CrumbAnswer], Field(max_length=11)]
    children: Annotated[list[CountedCategory], Field(max_length=MAX_LISTED)]
    next: Annotated[
        Cursor | None,
        Field(
            description="Where there are more below, the `cursor` of the others in the list of "
            "categories `under` this one; else null."
        ),
    ]
