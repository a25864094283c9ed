"""Product files of Shopify, and what an import of them leaves."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from chalicelib.foreign.outcomes import ImportReport
from chalicelib.runtime import Runtime
from chalicelib.shop.importing import products, shopify
from tests.shop.support.factories import SITE

# The head of an export.
HEAD = [
    "Handle",
    "Title",
    "Body (HTML)",
    "Vendor",
    "Product Category",
    "Type",
    "Tags",
    "Published",
    "Option1 Name",
    "Option1 Value",
    "Option1 Linked To",
    "Option2 Name",
    "Option2 Value",
    "Option2 Linked To",
    "Option3 Name",
    "Option3 Value",
    "Option3 Linked To",
    "Variant SKU",
    "Variant Grams",
    "Variant Inventory Tracker",
    "Variant Inventory Qty",
    "Variant Inventory Policy",
    "Variant Fulfillment Service",
    "Variant Price",
    "Variant Compare At Price",
    "Variant Requires Shipping",
    "Variant Taxable",
    "Variant Barcode",
    "Image Src",
    "Image Position",
    "Image Alt Text",
    "Gift Card",
    "SEO Title",
    "SEO Description",
    "Google Shopping / Google Product Category",
    "Google Shopping / Gender",
    "Google Shopping / Condition",
    "Variant Image",
    "Variant Weight Unit",
    "Variant Tax Code",
    "Cost per item",
    "Included / United States",
    "Price / International",
    "Status",
]
# A product of one variant.
MUG = {
    "Handle": "moon-mug",
    "Title": "Moon mug",
    "Body (HTML)": "<p>Holds <strong>tea</strong>.</p>",
    "Vendor": "Linnet",
    "Type": "Mugs",
    "Tags": "Moon, tea",
    "Published": "true",
    "Option1 Name": "Title",
    "Option1 Value": "Default Title",
    "Variant SKU": "MUG-1",
    "Variant Grams": "320",
    "Variant Inventory Tracker": "shopify",
    "Variant Inventory Qty": "12",
    "Variant Price": "18.50",
    "Variant Compare At Price": "21.00",
    "Image Src": "https://cdn.example/mug.jpg",
    "Status": "active",
}


def variant(value: str = "", **fields: str) -> dict[str, str]:
    """Return a further line of the mug; the names of fields have `_` for a blank."""
    others = {name.replace("_", " "): text for name, text in fields.items()}
    return {
        "Handle": "moon-mug",
        "Option1 Value": value,
        "Variant Inventory Tracker": "shopify",
        **others,
    }


def mug(**fields: str) -> dict[str, str]:
    """Return the mug with other fields."""
    return {**MUG, **{name.replace("_", " "): text for name, text in fields.items()}}


def written(*rows: dict[str, str], head: Sequence[str] = HEAD) -> bytes:
    """Return a file with lines."""
    text = io.StringIO()
    writer = csv.DictWriter(text, head, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def bring(runtime: Runtime, *rows: dict[str, str], dry: bool = False) -> ImportReport:
    """Import a file with lines; return the report."""
    return bring_file(runtime, written(*rows), dry=dry)


def bring_file(runtime: Runtime, content: bytes, *, dry: bool = False) -> ImportReport:
    """Import a file; return the report."""
    found = shopify.parse(io.BytesIO(content))
    return products.run(runtime, SITE, found, lambda _: None, is_dry_run=dry)


def numbers(done: ImportReport) -> dict[str, Any]:
    """Return the numbers of a report, without zeros."""
    return {name: number for name, number in {**done.counts, **done.reasons}.items() if number}
