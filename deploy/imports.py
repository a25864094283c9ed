"""Commands that import pages and products of other systems."""

import argparse
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, TypeVar

from chalicelib.comments.people import claims
from chalicelib.content.importing import pages, wordpress
from chalicelib.content.importing.wordpress import WordPressItem
from chalicelib.content.personal_data import imported_writers
from chalicelib.foreign.outcomes import ImportReport
from chalicelib.runtime import Runtime
from chalicelib.shop.importing import products, shopify
from chalicelib.shop.importing.shopify import ShopifyProduct
from chalicelib.wiring.pages import DISCUSSIONS
from deploy.commands_of_files import SAMPLES_SHOWN, add_site, opened, path_of
from deploy.progress_bar import Bar

Part = TypeVar("Part")
Tell = Callable[[int], None]
_PAGES: Mapping[str, str] = {
    "published": "are published, with their dates",
    "drafts": "are drafts",
    "present": "were here already",
    "changed": "are here with other words, and stay as they are",
    "left": "did not come over",
    "attachments": "attachments stay where they are",
    "others": "items are no posts and no pages",
}
_PRODUCTS: Mapping[str, str] = {
    "variants": "variants have a SKU and a price",
    "units": "units are on their shelves",
    "present": "were here already",
    "changed": "are here otherwise, and stay as they are",
    "left": "did not come over",
    "pictures": "pictures stay where they are",
}


def import_pages(runtime: Runtime, given: argparse.Namespace) -> Iterator[str]:
    """Import posts and pages; yield the lines of the report. Raises Failure."""

    def work(items: Iterator[WordPressItem], tell: Tell) -> ImportReport:
        site = given.site
        return pages.run(runtime, DISCUSSIONS, site, items, tell, is_dry_run=given.dry_run)

    done = _run(given, "items", wordpress.parse, work)
    if not given.dry_run:
        # An account may have claimed some of these writers already, for their comments.
        claims.follow(runtime, given.site, imported_writers(runtime.database, given.site))
    yield from _report(done, "pages", _PAGES, given)


def import_products(runtime: Runtime, given: argparse.Namespace) -> Iterator[str]:
    """Import products with their stock; yield the lines of the report. Raises Failure."""

    def work(found: Iterator[ShopifyProduct], tell: Tell) -> ImportReport:
        return products.run(runtime, given.site, found, tell, is_dry_run=given.dry_run)

    done = _run(given, "products", shopify.parse, work)
    yield from _report(done, "products", _PRODUCTS, given)


def _run(
    given: argparse.Namespace,
    parts: str,
    parse: Callable[[BinaryIO], Iterator[Part]],
    work: Callable[[Iterator[Part], Tell], ImportReport],
) -> ImportReport:
    """Import a file, with a bar; parse all of it first, so that a broken file imports nothing."""
    with opened(given.file) as file:
        size, bar = os.fstat(file.fileno()).st_size, Bar()

        def show(part: str, done: int) -> None:
            bar.show(part, min(file.tell() / max(size, 1), 1), f"{done:,} {parts}")

        try:
            for number, _ in enumerate(parse(file), 1):
                show("reading", number)
            file.seek(0)
            return work(parse(file), lambda done: show("importing", done))
        finally:
            bar.end()


def _report(
    done: ImportReport, parts: str, lines: Mapping[str, str], given: argparse.Namespace
) -> Iterator[str]:
    title = "would be imported" if given.dry_run else "are imported"
    yield f"{done.counts['imported']:,} of {done.counts[parts]:,} {parts} {title}"
    yield from (
        f"{done.counts[name]:,} {text}" for name, text in lines.items() if done.counts[name]
    )
    yield from (f"  {number:,} {reason}" for reason, number in sorted(done.reasons.items()))
    yield from (f"  {each.reason}: {each.where}" for each in done.places[:SAMPLES_SHOWN])


def add_commands(commands: Any, shape: Mapping[str, Any]) -> None:
    """Add the commands to those of `script/plaza`."""
    of_pages = commands.add_parser("import-pages", help="import pages of WordPress", **shape)
    of_pages.set_defaults(run=import_pages)
    _add_file(of_pages, "a WordPress export; it may be a .gz")
    of_products = commands.add_parser("import-products", help="import products of Shopify", **shape)
    of_products.set_defaults(run=import_products)
    _add_file(of_products, "a product CSV file of Shopify; it may be a .gz")


def _add_file(parser: argparse.ArgumentParser, named: str) -> None:
    add_site(parser)
    parser.add_argument("--dry-run", action="store_true", help="tell what would come over")
    parser.add_argument("file", type=path_of, metavar="FILE", help=named)
