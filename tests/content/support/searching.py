"""Searches in pages that tests make, and the rows of words as tests look at them."""

from urllib.parse import quote

from chalicelib.content import terms
from chalicelib.runtime import Runtime
from tests.content.support.factories import SITE
from tests.support.http_client import Client

SEARCH = f"/content/{SITE}/search"


def found(reader: Client, words: str, limit: int = 20) -> list[str]:
    """Return the addresses of all pages with some words, page by page."""
    addresses: list[str] = []
    more = ""
    while True:
        page = reader.get(f"{SEARCH}?q={quote(words, safe='')}&limit={limit}{more}")
        assert page.status == 200, page.body
        assert len(page.json["entries"]) <= limit
        addresses += [each["address"] for each in page.json["entries"]]
        if page.json["next"] is None:
            return addresses
        more = f"&cursor={page.json['next']}"


def rows(runtime: Runtime) -> dict[str, list[str]]:
    """Return the stored words by the ids of their rows."""
    return {row["_id"]: row["terms"] for row in terms.TERMS.of(runtime.database).find()}
