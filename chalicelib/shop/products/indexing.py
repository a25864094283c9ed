"""What a product is found by: the tokens of its title, its tags, its details and its text."""

from collections.abc import Mapping, Sequence
from typing import Any

from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.database.rewriting import Rewrite
from chalicelib.shop import types
from chalicelib.shop.layouts.stores import details_of
from chalicelib.shop.products.rows import PRODUCTS
from chalicelib.shop.search import stored_tokens


def tokens_of(title: str, tags: Sequence[str], details: Mapping[str, Any], text: str) -> list[str]:
    """Return the tokens that a product is stored with."""
    words = [*tags, *(str(value) for _, value in types.values_of(details))]
    return stored_tokens(title, words, text)


def _indexed_again(
    _database: Database[Document], product: Any, _session: ClientSession
) -> Document | None:
    """Return the update of a product whose tokens are not as they would be made today."""
    made = tokens_of(product["title"], product["tags"], details_of(product), product["text"])
    return {"$set": {"search": made}} if made != product["search"] else None


# Products that were written before accents were left out. Their versions stay: nothing that their
# publishers read has changed.
SEARCH_TOKENS = Rewrite(
    PRODUCTS,
    where={},
    fields=("type", "title", "tags", "text", "layout", "details", "attributes", "search"),
    change=_indexed_again,
)
