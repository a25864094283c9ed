"""Products as the API reads and shows them."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)
from typing_extensions import TypedDict

from chalicelib.http import Input
from chalicelib.ids import ID_PATTERN, Id
from chalicelib.keywords import Keyword
from chalicelib.registered import AnyOf
from chalicelib.shop.catalogue.layouts import details_of
from chalicelib.shop.catalogue.rendering import MAX_HTML_BYTES
from chalicelib.shop.catalogue.rows import (
    MAX_ASSETS,
    MAX_CATEGORIES,
    MAX_SKUS,
    MAX_TAGS,
    Product,
    State,
)
from chalicelib.shop.ids import CategoryId, ProductId, SkuId, name_of
from chalicelib.shop.money import Currency, PriceMicros
from chalicelib.shop.settings import LayoutName
from chalicelib.shop.types import PRODUCT_TYPES, Short, ShownShort, TypeName
from chalicelib.sites.ids import SiteId
from chalicelib.texts import Line, Paragraphs, ShownLine, at_most, html_of

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
    """A SKU of a product: its options and its price."""

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
    text: Annotated[
        Annotated[Paragraphs, at_most(MAX_TEXT_CHARACTERS)] | None,
        # An answer shows a missing text as empty, and a client may send the answer back.
        BeforeValidator(lambda text: None if text == "" else text),
    ] = Field(None, description="Markdown, without pictures and tables.")
    state: State = Field("draft", description="Customers see and buy what is `active`.")
    currency: Currency | None = Field(
        None, description="The currency of the prices, to be checked against the shop's."
    )
    skus: Annotated[list[NewSku], Field(min_length=1, max_length=MAX_SKUS)]
    categories: Categories = Field(default_factory=list)
    tags: Tags = Field(default_factory=list)
    assets: AssetIds = Field(default_factory=list)
    details: Annotated[Any, AnyOf(PRODUCT_TYPES), Field(description="The fields of the type.")]

    @model_validator(mode="after")
    def _check_skus(self) -> Self:
        if len({each.sku for each in self.skus}) < len(self.skus):
            raise ValueError("a SKU may occur once")
        return self


class LayoutChoice(Input):
    """The layout to rewrite products' details in."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"store": "attributes"}]})

    store: LayoutName


class SkuAnswer(TypedDict):
    """A SKU of a product: its options and its price."""

    sku: SkuId
    options: Annotated[dict[OptionName, ShownShort], Field(max_length=MAX_OPTIONS)]
    price_micros: PriceMicros


class ProductSummary(TypedDict):
    """A product in a list."""

    id: ProductId
    site: SiteId
    type: Annotated[str, Field(max_length=64)]
    title: ShownLine
    state: State
    version: Annotated[int, Field(description="How often it was written.")]
    price_micros: Annotated[int, Field(description="The least price of its SKUs.")]
    skus: Annotated[list[SkuAnswer], Field(max_length=MAX_SKUS)]
    categories: Annotated[list[CategoryId], Field(max_length=MAX_CATEGORIES)]
    tags: Annotated[list[Keyword], Field(max_length=MAX_TAGS)]
    assets: Annotated[list[Annotated[str, Id]], Field(max_length=MAX_ASSETS)]
    details: Annotated[Any, AnyOf(PRODUCT_TYPES)]
    added_at: datetime
    updated_at: datetime


class ProductAnswer(ProductSummary):
    """A product with its text."""

    text: Annotated[
        Annotated[str, Field(max_length=MAX_TEXT_CHARACTERS)],
        Field(description="Markdown; empty without one."),
    ]
    html: Annotated[str, html_of(MAX_HTML_BYTES)]


def product_summary(product: Product) -> ProductSummary:
    """Return a product as a list shows it."""
    return {
        "id": name_of(product["_id"]),
        "site": product["site"],
        "type": product["type"],
        "title": product["title"],
        "state": product["state"],
        "version": product["version"],
        "price_micros": product["price_micros"],
        "skus": [{**each} for each in product["skus"]],
        "categories": product["categories"],
        "tags": product["tags"],
        "assets": product["assets"],
        "details": details_of(product),
        "added_at": product["added"],
        "updated_at": product["updated"],
    }


def product_answer(product: Product) -> ProductAnswer:
    """Return a product as the API shows it."""
    return {**product_summary(product), "text": product["text"], "html": product["html"]}
