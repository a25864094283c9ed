"""What publishers send of a product."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints, model_validator

from chalicelib.http import Input
from chalicelib.ids import ID_PATTERN
from chalicelib.keywords import Keyword
from chalicelib.registered import AnyOf
from chalicelib.shop.ids import CategoryId, SkuId
from chalicelib.shop.money import Currency, PriceMicros
from chalicelib.shop.products.rows import MAX_ASSETS, MAX_CATEGORIES, MAX_SKUS, MAX_TAGS, State
from chalicelib.shop.sites.settings import LayoutName
from chalicelib.shop.types import PRODUCT_TYPES, Short, TypeName
from chalicelib.texts import Line, Paragraphs, at_most

MAX_TEXT_CHARACTERS = 10_000
MAX_OPTIONS = 5
# A hundred SKUs with their options, and a text with JSON's escapes.
BODY_LIMIT_BYTES = 200_000


def _distinct(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))


OptionName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,40}$")]
Tag = Annotated[
    Keyword, Field(description="A tag; case and spaces do not matter.", examples=["whales"])
]
Tags = Annotated[list[Tag], Field(max_length=MAX_TAGS), AfterValidator(_distinct)]
Categories = Annotated[
    list[CategoryId], Field(max_length=MAX_CATEGORIES), AfterValidator(_distinct)
]
AssetIds = Annotated[
    list[Annotated[str, StringConstraints(pattern=ID_PATTERN)]],
    Field(max_length=MAX_ASSETS, description="Pictures, by their ids among the site's assets."),
    AfterValidator(_distinct),
]


class NewSku(Input):
    """What is sold by one code."""

    sku: SkuId
    options: Annotated[dict[OptionName, Short], Field(max_length=MAX_OPTIONS)] = Field(
        default_factory=dict,
        examples=[{"binding": "hardcover"}],
        json_schema_extra={"additionalProperties": False},
    )
    price_micros: PriceMicros


class NewProduct(Input):
    """A product, whole; `type` decides what `details` has."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "book",
                    "title": "Moby-Dick",
                    "text": "A captain, and a *whale*.",
                    "state": "active",
                    "skus": [{"sku": "MOBY-HARD", "price_micros": 18_990_000}],
                    "tags": ["whales"],
                    "details": {"author": ["Herman Melville"], "language": "en"},
                }
            ]
        }
    )

    type: TypeName
    title: Line
    text: Annotated[Paragraphs, at_most(MAX_TEXT_CHARACTERS)] | None = Field(
        None, description="Markdown, without pictures and tables."
    )
    state: State = Field("draft", description="Customers see and buy what is `active`.")
    currency: Currency | None = Field(
        None, description="The currency of the prices, to be checked against the shop's."
    )
    skus: Annotated[list[NewSku], Field(min_length=1, max_length=MAX_SKUS)]
    categories: Categories = Field(default_factory=list)
    tags: Tags = Field(default_factory=list)
    assets: AssetIds = Field(default_factory=list)
    details: Annotated[Any, AnyOf(PRODUCT_TYPES), Field(description="What the type has.")]

    @model_validator(mode="after")
    def _check_skus(self) -> Self:
        if len({each.sku for each in self.skus}) < len(self.skus):
            raise ValueError("a SKU may occur once")
        return self


class LayoutChoice(Input):
    """How products keep their details from now on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"store": "attributes"}]})

    store: LayoutName
