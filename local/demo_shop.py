"""The demo newspaper's shop: books and bicycle parts, written through the API."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

SHOP: dict[str, Any] = json.loads((Path(__file__).parent / "demo_shop.json").read_text())
_MICROS = 1_000_000


def load(call: Callable[[str, str, dict[str, Any]], object], site: str) -> None:
    """Open the site's shop with its categories, products and stock, by calls with a body."""
    shop = f"/shops/{site}"
    call("PUT", shop, {"currency": SHOP["currency"]})
    for category, name, parent in SHOP["categories"]:
        body = {"name": name, "slug": category, "parent": parent}
        call("PUT", f"{shop}/categories/{category}", body)
    for product in SHOP["products"]:
        call("PUT", f"{shop}/products/{product['id']}", product_body(product))
    for sku, units in SHOP["stock"].items():
        call("POST", f"{shop}/stock/{sku}", {"change": units, "key": "opening"})


def product_body(product: dict[str, Any]) -> dict[str, Any]:
    """Return the body that makes a demo product."""
    kept = {name: value for name, value in product.items() if name not in {"id", "skus"}}
    skus = [
        {"sku": sku, "price_micros": round(price * _MICROS), "options": options}
        for sku, price, options in product["skus"]
    ]
    return {**kept, "state": "active", "skus": skus}
