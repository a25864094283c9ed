"""An import of products into a shop, in any number of runs: a repeat changes nothing.

One transaction writes a product with its stock. An existing product stays as it is. So a run after
a crash continues the import, and two runs at once write each product once.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pymongo.client_session import ClientSession

from chalicelib.errors import InvalidRequest, UnreadableText, VersionNeeded
from chalicelib.foreign.outcomes import ImportReport
from chalicelib.foreign.spools import Seen
from chalicelib.runtime import Runtime
from chalicelib.shop import settings, types
from chalicelib.shop.catalogue import writing
from chalicelib.shop.catalogue.forms import NewProduct
from chalicelib.shop.catalogue.layouts import details_of
from chalicelib.shop.catalogue.rendering import render
from chalicelib.shop.catalogue.rows import PRODUCTS, Product
from chalicelib.shop.catalogue.skus import SKUS
from chalicelib.shop.errors import ProductTooLarge, SkuTaken
from chalicelib.shop.ids import key_of, name_of
from chalicelib.shop.importing.conversion import (
    ConvertedProduct,
    UnusableProduct,
    convert,
    id_of,
)
from chalicelib.shop.importing.shopify import ShopifyProduct
from chalicelib.shop.stock import movements, shapes
from chalicelib.shop.stock.movements import NewMovement

# The key of the movement that puts the units of an import on the shelf. A publisher's movement
# cannot have this key: its keys have no colons.
MOVEMENT = "import:units"

Tell = Callable[[int], None]


def run(
    runtime: Runtime,
    site: str,
    products: Iterable[ShopifyProduct],
    tell: Tell,
    *,
    is_dry_run: bool = False,
) -> ImportReport:
    """Import the products of a file into a shop; return the report.

    Calls `tell` after each product with the number of products so far. A dry run changes nothing,
    and returns the same report. Raises UnknownShop, and the errors of reading the file: after such
    an error, a new run continues the import.
    """
    work = _ProductImport(runtime, site, is_dry_run=is_dry_run)
    for number, each in enumerate(products, 1):
        work.take(each)
        tell(number)
    return work.outcome


class _ProductImport:
    def __init__(self, runtime: Runtime, site: str, *, is_dry_run: bool) -> None:
        self._shop = settings.find(runtime.database, site)
        self._runtime, self._site, self._is_dry_run = runtime, site, is_dry_run
        self._ids = Seen()
        # The SKUs of a dry run, which claims none in the database.
        self._claimed = Seen()
        self.outcome = ImportReport()

    def take(self, given: ShopifyProduct) -> None:
        """Import a product, or report the reason why it stays out."""
        where = f"line {given.line}, {given.handle or given.title}"
        self.outcome.counts["products"] += 1
        self.outcome.counts["pictures"] += given.pictures
        try:
            self._note_id(given)
            self._bring(convert(self._shop, given), where)
        except UnusableProduct as unusable:
            self.outcome.leave(unusable.reason, where)

    def _note_id(self, given: ShopifyProduct) -> None:
        """Note a product's id; raises UnusableProduct if the file had the id before."""
        if not self._ids.is_new(id_of(given)):
            raise UnusableProduct("handle_again")

    def _bring(self, made: ConvertedProduct, where: str) -> None:
        self._check(made)
        found, kept = self._find(made), set[str]()
        if found is None:
            try:
                kept = self._store(made)
            except SkuTaken:
                raise UnusableProduct("sku_taken") from None
            except VersionNeeded:
                # Another run has just brought it.
                found = self._find(made)
        if found is not None:
            self._meet(found, made, where)
            return
        for loss in made.losses:
            self.outcome.note(loss.reason, f"line {loss.line}, {made.id}")
        for sku in sorted(kept):
            self.outcome.note("stock_kept", f"{where}, {sku}")
        counts = self.outcome.counts
        counts["imported"] += 1
        counts["variants"] += len(made.new.skus)
        counts["units"] += sum(made.units[sku] for sku in made.units.keys() - kept)

    def _check(self, made: ConvertedProduct) -> None:
        """Raise UnusableProduct for a product that cannot be stored or shown."""
        try:
            writing.check_prices(self._shop, made.new)
            types.check_details(made.new.type, made.new.details)
            render(made.new.text)
        except ProductTooLarge:
            raise UnusableProduct("too_large") from None
        except UnreadableText:
            raise UnusableProduct("unreadable") from None
        except InvalidRequest:
            raise UnusableProduct("malformed") from None

    def _find(self, made: ConvertedProduct) -> Product | None:
        where = {"_id": key_of(self._site, made.id), "site": self._site}
        return PRODUCTS.of(self._runtime.database).find_one(where)

    def _meet(self, found: Product, made: ConvertedProduct, where: str) -> None:
        if _words(found) == _words_of_new(made.new):
            self.outcome.counts["present"] += 1
        else:
            self.outcome.counts["changed"] += 1
            self.outcome.note("changed", where)

    def _store(self, made: ConvertedProduct) -> set[str]:
        """Write a new product with its stock; return the SKUs that have a stock already.

        Their stock does not change. A dry run writes nothing. Raises SkuTaken, and VersionNeeded
        if the product exists.
        """
        if self._is_dry_run:
            self._claim(made)
            return self._skus_with_stock(made)
        kept: set[str] = set()

        def put_on_shelf(session: ClientSession) -> None:
            nonlocal kept
            kept = self._skus_with_stock(made, session)
            for sku, units in made.units.items():
                if units and sku not in kept:
                    change = NewMovement(MOVEMENT, None, units, "import")
                    movements.move_within(self._runtime, key_of(self._site, sku), change, session)

        writing.put(self._runtime, self._site, made.id, made.new, None, put_on_shelf)
        return kept

    def _skus_with_stock(
        self, made: ConvertedProduct, session: ClientSession | None = None
    ) -> set[str]:
        """Return the SKUs of a product that have a stock already, even an empty one."""
        keys = [key_of(self._site, sku) for sku in made.units]
        rows = shapes.STOCKS.of(self._runtime.database)
        found = rows.find({"_id": {"$in": keys}}, {"_id": 1}, session=session)
        return {name_of(row["_id"]) for row in found}

    def _claim(self, made: ConvertedProduct) -> None:
        """Claim the SKUs of a product in the memory of a dry run; raises SkuTaken."""
        codes = [each.sku for each in made.new.skus]
        keys = [key_of(self._site, code) for code in codes]
        held = SKUS.of(self._runtime.database).find_one({"_id": {"$in": keys}})
        if held is not None:
            raise SkuTaken(name_of(held["_id"]), held["product"])
        taken = next((code for code in codes if code in self._claimed), None)
        if taken is not None:
            raise SkuTaken(taken, made.id)
        for code in codes:
            self._claimed.is_new(code)


def _words(product: Product) -> dict[str, Any]:
    named: Mapping[str, Any] = product
    fields = ("type", "title", "text", "state", "tags")
    return {
        **{name: named[name] for name in fields},
        "skus": [dict(each) for each in product["skus"]],
        "details": details_of(product),
    }


def _words_of_new(new: NewProduct) -> dict[str, Any]:
    return {
        "type": new.type,
        "title": new.title,
        "text": new.text or "",
        "state": new.state,
        "tags": new.tags,
        "skus": [each.model_dump() for each in new.skus],
        "details": types.check_details(new.type, new.details),
    }
