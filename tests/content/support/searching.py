"""Searches in pages that tests make, and the rows of words as tests look at them."""

from chalicelib.content import terms
from chalicelib.runtime import Runtime
from tests.content.support.factories import SITE
from tests.support.http_client import Client
from tests.support.searching import walk_search

SEARCH = f"/content/{SITE}/search"


def found(reader: Client, words: str, limit: int = 20) -> list[str]:
    """Return the addresses of all pages with some words, page by page."""
    return walk_search(reader, SEARCH, words, limit, "entries", "address")


def rows(runtime: Runtime) -> dict[str, list[str]]:
    """Return the stored words by the ids of their rows."""
    return {row["_id"]: row["terms"] for row in terms.TERMS.of(runtime.database).find()}
