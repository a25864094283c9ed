"""The newspaper's shop: a page of its catalogue, and one of each product, with a cart beside it."""

from html import escape
from pathlib import Path
from string import Template
from typing import NamedTuple

from local.demo_shop import SHOP

ADDRESS = "/shop"
NAME = "Shop"
_FOLDER = Path(__file__).resolve().parents[1] / "web" / "site"
_TITLES = {each["id"]: str(each["title"]) for each in SHOP["products"]}


class ShopPage(NamedTuple):
    """A page: its title, its main part, and the elements that it shows."""

    title: str
    main: str
    elements: list[str]


def is_of_shop(path: str) -> bool:
    """Return whether an address is the shop's."""
    return path == ADDRESS or path.startswith(f"{ADDRESS}/")


def page(path: str, site: str) -> ShopPage | None:
    """Return the page at an address of the shop; None if it has nothing there."""
    product = path.removeprefix(ADDRESS).removeprefix("/")
    if (product and product not in _TITLES) or path == f"{ADDRESS}/":
        return None
    texts = {"site": site, "currency": SHOP["currency"], "product": product}
    template = Template((_FOLDER / ("product.html" if product else "shop.html")).read_text())
    main = template.substitute({name: escape(text) for name, text in texts.items()})
    sku = next(each["skus"][0][0] for each in SHOP["products"] if product in {each["id"], ""})
    return ShopPage(_TITLES.get(product, NAME), main, _elements(site, sku))


def _elements(site: str, sku: str) -> list[str]:
    button = f'<button data-plaza-buy="{sku}">Put into the cart</button>'
    return [button, f'<plaza-cart site="{site}" loading="eager"></plaza-cart>']
