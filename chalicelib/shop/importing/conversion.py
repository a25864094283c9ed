"""Products of Shopify as products of Plaza: their ids, SKUs, prices, options and stock."""

import hashlib
import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from pydantic import ValidationError

from chalicelib.currencies import max_price_micros
from chalicelib.foreign.entities import plain_line
from chalicelib.foreign.html_markdown import HARD_BREAK, markdown_of
from chalicelib.keywords import MAX_KEYWORD_CHARACTERS, normalise_keyword
from chalicelib.shop.catalogue.forms import MAX_TEXT_CHARACTERS, NewProduct
from chalicelib.shop.catalogue.rows import MAX_SKUS, MAX_TAGS, State
from chalicelib.shop.importing.shopify import ShopifyProduct, ShopifyVariant
from chalicelib.shop.money import is_chargeable
from chalicelib.shop.settings import ShopSite
from chalicelib.shop.types import MAX_VALUE_CHARACTERS
from chalicelib.texts import balance_directions

# Every imported product gets this type: Shopify's file has no types of Plaza.
TYPE = "goods"
MICROS = Decimal(1_000_000)
_MAX_ID_CHARACTERS = 64
_MAX_TITLE_CHARACTERS = 200
_DIGEST_CHARACTERS = 8
_MOST_GRAMS = 1_000_000
_MOST_UNITS = 1_000_000
_STATES: Mapping[str, State] = {"active": "active", "draft": "draft", "archived": "archived"}
_ID = re.compile(r"[a-z0-9-]{1,64}")
_NOT_OF_ID = re.compile(r"[^a-z0-9]+")
_SKU = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_OF_SKU = re.compile(r"[^A-Za-z0-9_-]+")
_NOT_OF_OPTION = re.compile(r"[^a-z0-9]+")
_NUMBER = re.compile(r"(-?[0-9]{1,12})(?:\.[0-9]{0,12})?")
_PRICE = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?")
# Shopify's placeholder, name and value, for a product without options.
_NO_OPTION = ("title", "default title")
_CUT = "\n\n\N{HORIZONTAL ELLIPSIS}"


class UnusableProduct(Exception):
    """The import leaves a product out; `reason` is a stable code."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ProductLoss(NamedTuple):
    """A loss or change of a product's data: its stable code, and the line of the file."""

    reason: str
    line: int


@dataclass(frozen=True, slots=True)
class ConvertedProduct:
    """A product to write, the units of each SKU, and its losses."""

    id: str
    new: NewProduct
    units: Mapping[str, int]
    losses: list[ProductLoss] = field(default_factory=list)


def convert(shop: ShopSite, given: ShopifyProduct) -> ConvertedProduct:
    """Return a product for a shop; raises UnusableProduct."""
    losses: list[ProductLoss] = []
    if given.more_variants or len(given.variants) > MAX_SKUS:
        raise UnusableProduct("too_many_variants")
    product_id = id_of(given)
    if given.handle and product_id != given.handle:
        losses.append(ProductLoss("handle_changed", given.line))
    skus, units = _skus(shop, product_id, given, losses)
    if not skus:
        raise UnusableProduct("no_variant")
    new = _parse_new(
        {
            "type": TYPE,
            "title": plain_line(given.title, _MAX_TITLE_CHARACTERS) or product_id,
            "text": _text(given, losses),
            "state": _state(given, losses),
            "skus": skus,
            "tags": _tags(given, losses),
            "details": _details(given),
        }
    )
    return ConvertedProduct(product_id, new, units, losses)


def id_of(given: ShopifyProduct) -> str:
    """Return the id of a product: its handle, or an id made from its handle or title.

    Raises UnusableProduct if it has neither.
    """
    if _ID.fullmatch(given.handle):
        return given.handle
    named = given.handle or given.title
    if not named:
        raise UnusableProduct("no_handle")
    similar = _NOT_OF_ID.sub("-", named.lower()).strip("-")
    if not given.handle and similar and named.isascii() and len(similar) <= _MAX_ID_CHARACTERS:
        return similar
    return _with_digest(similar, named)


def _with_digest(similar: str, named: str) -> str:
    """Return the beginning of `similar` with a digest of `named`, in at most 64 characters."""
    digest = hashlib.sha256(named.encode(errors="replace")).hexdigest()[:_DIGEST_CHARACTERS]
    return f"{similar[: _MAX_ID_CHARACTERS - _DIGEST_CHARACTERS - 1]}-{digest}".strip("-")


def _skus(
    shop: ShopSite, product_id: str, given: ShopifyProduct, losses: list[ProductLoss]
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Return the SKUs of a product, and the units of each; add to `losses`.

    A variant without a usable price stays out.
    """
    skus: dict[str, dict[str, Any]] = {}
    units: dict[str, int] = {}
    for variant in given.variants:
        price = _price(shop, variant.price)
        if price is None:
            losses.append(ProductLoss("no_price", variant.line))
            continue
        options = _options(given, variant)
        sku = _sku(product_id, variant, options, losses)
        if sku in skus:
            sku = _derive_sku(product_id, variant, options)
            losses.append(ProductLoss("sku_twice", variant.line))
        if sku in skus:
            losses.append(ProductLoss("variant_twice", variant.line))
            continue
        skus[sku] = {"sku": sku, "options": options, "price_micros": price}
        units[sku] = _units(variant, losses)
    return list(skus.values()), units


def _sku(
    product_id: str, variant: ShopifyVariant, options: Mapping[str, str], losses: list[ProductLoss]
) -> str:
    """Return the SKU of a variant: the file's, a valid one made from it, or a derived one."""
    # Spreadsheets write an apostrophe before digits, to store them as text.
    own = variant.sku.removeprefix("'")
    if _SKU.fullmatch(own):
        return own
    if not own:
        losses.append(ProductLoss("no_sku", variant.line))
        return _derive_sku(product_id, variant, options)
    losses.append(ProductLoss("sku_changed", variant.line))
    return _with_digest(_NOT_OF_SKU.sub("-", own).strip("-"), own)


def _derive_sku(product_id: str, variant: ShopifyVariant, options: Mapping[str, str]) -> str:
    """Return a SKU made from the product, the file's SKU and the options.

    It does not depend on the order of the lines: a repeated import makes the same SKU.
    """
    named = [product_id, variant.sku, sorted(options.items())]
    return _with_digest(product_id, json.dumps(named))


def _options(given: ShopifyProduct, variant: ShopifyVariant) -> dict[str, str]:
    found: dict[str, str] = {}
    pairs = zip(given.option_names, variant.options, strict=True)
    for number, (name, value) in enumerate(pairs, 1):
        if not value or (name.lower() in {"", "title"} and value.lower() == _NO_OPTION[1]):
            continue
        plain = _NOT_OF_OPTION.sub("_", name.lower()).strip("_")[:40] if name.isascii() else ""
        numbered = (f"option{each}" for each in itertools.count(number))
        names = itertools.chain([plain], numbered)
        key = next(each for each in names if each and each not in found)
        found[key] = plain_line(value, MAX_VALUE_CHARACTERS)
    return {key: value for key, value in found.items() if value}


def _price(shop: ShopSite, text: str) -> int | None:
    """Return a price in micros. None: no price, or the shop cannot charge it."""
    if not _PRICE.fullmatch(text):
        return None
    price, currency = Decimal(text), shop["currency"]
    if not 0 < price <= max_price_micros(currency) / MICROS:
        return None
    micros = price * MICROS
    if micros != micros.to_integral_value():
        return None
    return int(micros) if is_chargeable(int(micros), currency, shop["payments"]) else None


def _units(variant: ShopifyVariant, losses: list[ProductLoss]) -> int:
    """Return the units of a variant, from 0 to a million; add to `losses`.

    An untracked variant has the units of the file, too. A quantity that is no plain number is 0.
    """
    if not variant.is_tracked:
        losses.append(ProductLoss("untracked", variant.line))
    found = _NUMBER.fullmatch(variant.quantity)
    units = int(found[1]) if found else 0
    if variant.quantity and not found:
        losses.append(ProductLoss("bad_stock", variant.line))
    if units < 0:
        losses.append(ProductLoss("negative_stock", variant.line))
    if units > _MOST_UNITS:
        losses.append(ProductLoss("stock_cut", variant.line))
    return max(0, min(units, _MOST_UNITS))


def _state(given: ShopifyProduct, losses: list[ProductLoss]) -> State:
    """Return the state of a product; an unpublished active product is a draft.

    Without a status in the file, the product is active. An unknown status is a draft.
    """
    state = _STATES.get(given.status, "active" if not given.status else "draft")
    if given.status and given.status not in _STATES:
        losses.append(ProductLoss("status", given.line))
    return "draft" if state == "active" and not given.is_published else state


def _text(given: ShopifyProduct, losses: list[ProductLoss]) -> str | None:
    """Return the text as Markdown, without pictures, cut to MAX_TEXT_CHARACTERS. None: empty."""
    html = str(given.html.replace("\r\n", "\n"))
    text = markdown_of(html, breaks="<" not in html, picture=_no_picture, line_end=HARD_BREAK)
    if len(text) > MAX_TEXT_CHARACTERS:
        losses.append(ProductLoss("text_cut", given.line))
        most = MAX_TEXT_CHARACTERS - len(_CUT)
        # A cut between two paragraphs leaves no Markdown mark open.
        end = text.rfind("\n\n", most // 2, most)
        text = text[: end if end > 0 else most].rstrip() + _CUT
    text = balance_directions(text)
    return text if text.strip() else None


def _no_picture(_url: str) -> str:
    return ""


def _tags(given: ShopifyProduct, losses: list[ProductLoss]) -> list[str]:
    found: dict[str, None] = {}
    # Normalised first: a full-width comma becomes a comma, which separates tags.
    for each in filter(None, map(normalise_keyword, normalise_keyword(given.tags).split(","))):
        if len(each) <= MAX_KEYWORD_CHARACTERS and each.replace(" ", "").isprintable():
            found[each] = None
        else:
            losses.append(ProductLoss("tag", given.line))
    if len(found) > MAX_TAGS:
        losses.append(ProductLoss("tags_cut", given.line))
    return list(found)[:MAX_TAGS]


def _details(given: ShopifyProduct) -> dict[str, Any]:
    grams = _NUMBER.fullmatch(given.grams)
    weight = int(grams[1]) if grams else 0
    found = {
        "brand": plain_line(given.vendor, MAX_VALUE_CHARACTERS),
        "kind": plain_line(given.kind, MAX_VALUE_CHARACTERS),
        "weight_grams": weight if 1 <= weight <= _MOST_GRAMS else None,
    }
    return {name: value for name, value in found.items() if value}


def _parse_new(given: dict[str, Any]) -> NewProduct:
    try:
        return NewProduct.model_validate(given)
    except ValidationError as error:
        raise UnusableProduct(f"bad_{error.errors()[0]['loc'][0]}") from None
