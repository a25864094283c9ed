"""Whole writes of products, on the condition of their version, with search tokens."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pymongo.client_session import ClientSession

from chalicelib.assets import pictures, uses
from chalicelib.currencies import max_price_micros
from chalicelib.database import Document, in_transaction
from chalicelib.errors import FieldError, InvalidRequest, VersionNeeded
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.shop import settings, types
from chalicelib.shop.catalogue import prices, skus
from chalicelib.shop.catalogue.forms import NewProduct
from chalicelib.shop.catalogue.layouts import to_stored
from chalicelib.shop.catalogue.rendering import render
from chalicelib.shop.catalogue.rows import PRODUCTS, Product, find, under
from chalicelib.shop.catalogue.skus import SkuClaim
from chalicelib.shop.categories import reading
from chalicelib.shop.errors import ProductChanged, UnknownProduct
from chalicelib.shop.ids import key_of, name_of
from chalicelib.shop.money import is_chargeable, step_micros
from chalicelib.shop.search import stored_tokens
from chalicelib.shop.settings import ShopSite
from chalicelib.words import RULES


def tokens_of(title: str, tags: Sequence[str], details: Mapping[str, Any], text: str) -> list[str]:
    """Return the search tokens of a product."""
    words = [*tags, *(str(value) for _, value in types.values_of(details))]
    return stored_tokens(title, words, text)


@dataclass(frozen=True)
class WrittenProduct:
    """A product after its write."""

    product: Product
    is_new: bool


Beside = Callable[[ClientSession], None]


def _write_nothing(_session: ClientSession) -> None:
    pass


@dataclass(frozen=True)
class _Given:
    """A publisher's product, checked and rendered before the transaction."""

    new: NewProduct
    details: dict[str, Any]
    html: str
    lines: list[list[str]]


def put(  # noqa: PLR0913, PLR0917 - a product under its version, and the writes beside it
    runtime: Runtime,
    site: str,
    product_id: str,
    new: NewProduct,
    version: int | None,
    beside: Beside = _write_nothing,
) -> WrittenProduct:
    """Write a whole product, on the condition of its version. `version` None: a new product.

    `beside` makes other writes in the same transaction. The caller has checked new assets.

    Raises UnknownShop, InvalidRequest, SkuTaken, ProductTooLarge; for an existing product
    VersionNeeded and ProductChanged; for a missing product with a version UnknownProduct; and
    UnknownAsset for an asset that is deleted meanwhile.
    """
    details = types.check_details(new.type, new.details)
    lines = _lines(runtime, site, new.categories)
    given = _Given(new, details, render(new.text), lines)

    def work(session: ClientSession) -> WrittenProduct:
        shop = settings.find(runtime.database, site, session)
        check_prices(shop, new)
        before = _before(runtime, site, product_id, version, session)
        product = _product(runtime, shop, product_id, given, before)
        owned = [each["sku"] for each in before["skus"]] if before else []
        claim = SkuClaim(site, product_id, [each.sku for each in new.skus], owned)
        skus.take(runtime.database, claim, session)
        where = {"_id": product["_id"], "site": site}
        PRODUCTS.of(runtime.database).replace_one(where, product, upsert=True, session=session)
        _count_assets(runtime, session, before, set(new.assets))
        beside(session)
        return WrittenProduct(product, before is None)

    return in_transaction(runtime.database, work)


def _count_assets(
    runtime: Runtime, session: ClientSession, before: Product | None, after: set[str]
) -> None:
    """Count the assets of a product as used in place of its former ones; raises UnknownAsset."""
    held = set(before["assets"]) if before else set()
    if before and not before.get("counts_assets"):
        # An earlier release did not count them, and some may be gone.
        after, held = after - set(uses.find_missing(runtime.database, held)), set()
    pictures.change(runtime.database, session, held, after)


def check_assets(
    runtime: Runtime, site: str, product_id: str, asset_ids: Iterable[str], caller: Principal
) -> None:
    """Raise UnknownAsset unless the new pictures of a product are of sites that the caller edits.

    A stored product keeps its pictures, whoever writes it.
    """
    if not (named := frozenset(asset_ids)):
        return
    this = {"_id": key_of(site, product_id), "site": site}
    before = PRODUCTS.of(runtime.database).find_one(this, {"assets": 1})
    added = named - frozenset(before["assets"] if before else ())
    uses.check_of_sites(runtime.database, added, added, caller)


def archive(runtime: Runtime, site: str, product_id: str) -> None:
    """Archive a product, which keeps its SKUs; raises UnknownProduct."""
    where: Document = {"_id": key_of(site, product_id), "site": site}
    change = {"$set": {"state": "archived", "updated": runtime.now()}, "$inc": {"version": 1}}
    rows = PRODUCTS.of(runtime.database)
    if not rows.update_one({**where, "state": {"$ne": "archived"}}, change).matched_count:
        find(runtime.database, site, product_id)


def _before(
    runtime: Runtime, site: str, product_id: str, version: int | None, session: ClientSession
) -> Product | None:
    """Return the product to replace, after a check of its version. None: a new product."""
    try:
        before = find(runtime.database, site, product_id, session)
    except UnknownProduct:
        if version is None:
            return None
        raise
    if version is None:
        raise VersionNeeded
    if before["version"] != version:
        raise ProductChanged(before["version"])
    return before


def _lines(runtime: Runtime, site: str, categories: list[str]) -> list[list[str]]:
    """Return each category with its ancestors, from the root; raises InvalidRequest.

    During a change of the tree this reads the former tree; the change's job corrects the product.
    """
    above = reading.places_above(runtime.database, site, categories)
    faults = [
        FieldError(f"categories.{number}", "unknown_category", "there is no such category")
        for number, name in enumerate(categories)
        if key_of(site, name) not in above
    ]
    if faults:
        raise InvalidRequest(errors=faults)
    return [[*map(name_of, above[key_of(site, name)]), name] for name in categories]


def check_prices(shop: ShopSite, new: NewProduct) -> None:
    """Raise InvalidRequest for a currency or a price that the shop cannot charge."""
    currency = shop["currency"]
    if new.currency not in {None, currency}:
        detail = f"the prices of this shop are in {currency}"
        raise InvalidRequest(errors=[FieldError("currency", "other_currency", detail)])
    step = step_micros(currency, shop["payments"])
    detail = f"a price in {currency} must be a multiple of {step} for this shop's payments"
    faults = [
        FieldError(f"skus.{number}.price_micros", "fraction", detail)
        for number, each in enumerate(new.skus)
        if not is_chargeable(each.price_micros, currency, shop["payments"])
    ]
    most = max_price_micros(currency)
    faults += [
        FieldError(f"skus.{number}.price_micros", "too_large", f"a price is at most {most} micros")
        for number, each in enumerate(new.skus)
        if each.price_micros > most
    ]
    if faults:
        raise InvalidRequest(errors=faults[:20])


def _product(
    runtime: Runtime, shop: ShopSite, product_id: str, given: _Given, before: Product | None
) -> Product:
    new, now = given.new, runtime.now()
    product: Any = {
        "_id": key_of(shop["_id"], product_id),
        "site": shop["_id"],
        "type": new.type,
        "title": new.title,
        "text": new.text or "",
        "html": given.html,
        "state": new.state,
        "version": before["version"] + 1 if before else 1,
        "skus": [each.model_dump() for each in new.skus],
        **prices.least_and_higher(each.price_micros for each in new.skus),
        "categories": new.categories,
        "under": under(new.type, new.tags, given.lines),
        "tags": new.tags,
        "assets": new.assets,
        "counts_assets": True,
        "search": tokens_of(new.title, new.tags, given.details, new.text or ""),
        "search_rules": RULES,
        "added": before["added"] if before else now,
        "updated": now,
        **to_stored(shop, given.details),
    }
    made: Product = product
    return made
