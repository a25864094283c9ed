"""The words of a search, and the entry word of the text index.

A text search reads all products of its entry word before it sorts them. So the entry is the rarest
word. If even the rarest word is frequent, a list reads the index of its order, and soon fills a
page. A list by `best` then scores only the newest products of the shop.
"""

from typing import NamedTuple

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.errors import FieldError, InvalidRequest
from chalicelib.shop.catalogue.listing_forms import ProductsQuery
from chalicelib.shop.catalogue.rows import PRODUCTS
from chalicelib.words import tokens

MAX_WORDS = 20
# A word of so many products is frequent; the check reads at most so many products a word.
FREQUENT = 1_000


class SearchWords(NamedTuple):
    """The words of a search, and the entry word of the index. None: do not use the index."""

    all: list[str]
    entry: str | None


def search_words(
    database: Database[Document], site: str, query: ProductsQuery
) -> SearchWords | None:
    """Return the words of a list's search. None: no search. Raises InvalidRequest."""
    if query.q is None:
        return None
    words = tokens(query.q)
    if not 1 <= len(words) <= MAX_WORDS:
        detail = f"a search needs 1 to {MAX_WORDS} words"
        raise InvalidRequest(errors=[FieldError("q", "words", detail)])
    counts = {word: _count(database, site, word) for word in words}
    rarest = min(words, key=lambda word: counts[word])
    return SearchWords(words, rarest if counts[rarest] < FREQUENT else None)


def _count(database: Database[Document], site: str, word: str) -> int:
    """Return the number of a shop's products with a word, up to `FREQUENT`."""
    counted = PRODUCTS.read_as(dict[str, int], database).aggregate(
        [
            {"$match": {"site": site, "$text": {"$search": word}}},
            {"$limit": FREQUENT},
            {"$count": "products"},
        ]
    )
    return next((row["products"] for row in counted), 0)
