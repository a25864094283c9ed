"""The words of a search: which of them the text index is entered by, if any.

The index holds each word with the products that have it, and reads all of a word's before it
sorts them. So it is entered by the rarest word. Where even that one is frequent, a list is read
from the index of its order, and soon has a page of products that have the words; one by `best`
scores the newest products of the shop alone.
"""

from typing import NamedTuple

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.shop import search
from chalicelib.shop.catalogue.listing_forms import ProductsQuery
from chalicelib.shop.catalogue.rows import PRODUCTS

MAX_WORDS = 20
# Products that have a frequent word; as many are read of each word of a search to find out.
FREQUENT = 1_000


class Words(NamedTuple):
    """The words of a search; the index is entered by the rarest, or by None if it is left out."""

    all: list[str]
    entry: str | None


def asked(database: Database[Document], site: str, query: ProductsQuery) -> Words | None:
    """Return the words that a list is searched for, if it is; raises InvalidRequest."""
    if query.q is None:
        return None
    words = search.tokens(query.q)
    if not 1 <= len(words) <= MAX_WORDS:
        told = f"a search needs 1 to {MAX_WORDS} words"
        raise InvalidRequest(errors=[FieldError("q", "words", told)])
    counts = {word: _count(database, site, word) for word in words}
    rarest = min(words, key=lambda word: counts[word])
    return Words(words, rarest if counts[rarest] < FREQUENT else None)


def _count(database: Database[Document], site: str, word: str) -> int:
    """Return how many products of a shop have a word, up to those that make it frequent."""
    counted = PRODUCTS.read_as(dict[str, int], database).aggregate(
        [
            {"$match": {"site": site, "$text": {"$search": word}}},
            {"$limit": FREQUENT},
            {"$count": "products"},
        ]
    )
    return next((row["products"] for row in counted), 0)
