"""The assets that a page names: found at each save of a draft, counted as uses of the assets.

A page counts as one use of an asset, even if its draft and both editions name it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from pymongo.database import Database

from chalicelib.assets import uses
from chalicelib.content import types
from chalicelib.content.shapes import MAX_ASSETS, ContentNode, Edition, PageDraft
from chalicelib.database import Document
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.identity import Principal
from chalicelib.ids import ID_PATTERN
from chalicelib.runtime import Runtime

_ID = ID_PATTERN.strip("^$")


class NamedAssets(NamedTuple):
    """The assets that a draft names, and among them its pictures."""

    all: frozenset[str]
    pictures: frozenset[str]


def find(runtime: Runtime, kind: str, detail: Document) -> NamedAssets:
    """Return the assets that a detail names.

    Raises InvalidRequest for more than MAX_ASSETS, and for a text with too many parts to parse.
    """
    shown = types.pictures_of(kind, detail)
    linked: set[str] = set()
    for name, asset_id in _in_text(runtime, types.markdown_of(kind, detail)):
        (shown if name == "src" else linked).add(asset_id)
    if len(shown | linked) > MAX_ASSETS:
        fault = f"a page names at most {MAX_ASSETS} assets"
        raise InvalidRequest(errors=[FieldError("detail", "too_many_assets", fault)])
    return NamedAssets(frozenset(shown | linked), frozenset(shown))


def check(
    database: Database[Document], found: NamedAssets, held: set[str], caller: Principal
) -> None:
    """Raise UnknownAsset unless the caller may name each asset that is new to the page."""
    uses.check_of_sites(database, found.all - held, found.pictures, caller)


def assets_of(*parts: PageDraft | Edition | None) -> set[str]:
    """Return the assets that a page's draft and editions name."""
    return {each for part in parts if part is not None for each in part["assets"]}


def of(node: ContentNode) -> set[str]:
    """Return the assets that a page names."""
    return assets_of(node["draft"], node["live"], node["next"])


def _in_text(runtime: Runtime, text: str) -> Iterator[tuple[str, str]]:
    # A text without "asset" names no asset, unless an entity (`&`) hides the word. So most pages
    # need no parser; its import takes 20 ms of a cold start.
    if "asset" not in text and "&" not in text:
        return
    from chalicelib import markdown
    from chalicelib.content.rendering import DIALECT

    own = re.escape(runtime.settings.public_url)
    named = re.compile(rf"(?:asset:|(?:{own})?/assets/)({_ID})(?:/[0-9]{{1,2}})?(?:[?#].*)?")
    try:
        for name, url in markdown.destinations(text, DIALECT):
            if found := named.fullmatch(url):
                yield name, found[1]
    except markdown.TooLarge:
        fault = "the text has too many items, cells and marks to be shown"
        raise InvalidRequest(errors=[FieldError("detail", "page_too_large", fault)]) from None
