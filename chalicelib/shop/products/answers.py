"""The form in which the API answers about products."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.ids import Id
from chalicelib.keywords import Keyword
from chalicelib.registered import AnyOf
from chalicelib.shop.ids import CategoryId, ProductId, SkuId, name_of
from chalicelib.shop.layouts.stores import details_of
from chalicelib.shop.money import PriceMicros
from chalicelib.shop.products.models import MAX_OPTIONS, MAX_TEXT_CHARACTERS, OptionName
from chalicelib.shop.products.rendering import MAX_HTML_BYTES
from chalicelib.shop.products.rows import (
    MAX_ASSETS,
    MAX_CATEGORIES,
    MAX_SKUS,
    MAX_TAGS,
    Product,
    State,
)
from chalicelib.shop.types import PRODUCT_TYPES, ShownShort
from chalicelib.sites.ids import SiteId
from chalicelib.texts import ShownLine, html_of


class SkuAnswer(TypedDict):
    """What is sold by one code."""

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
