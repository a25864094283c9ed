"""Searches by words, page by page."""

from urllib.parse import quote

from tests.support.http_client import Client


def walk_search(  # noqa: PLR0913, PLR0917 - a search, its page, and what a result shows
    reader: Client, search: str, words: str, limit: int, results: str, shown: str
) -> list[str]:
    """Return a field of all results of a search, page by page."""
    found: list[str] = []
    more = ""
    while True:
        page = reader.get(f"{search}?q={quote(words, safe='')}&limit={limit}{more}")
        assert page.status == 200, page.body
        assert len(page.json[results]) <= limit
        found += [each[shown] for each in page.json[results]]
        if page.json["next"] is None:
            return found
        more = f"&cursor={page.json['next']}"
