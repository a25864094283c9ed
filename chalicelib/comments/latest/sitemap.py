"""Sitemaps of the pages with discussions at a site (sitemaps.org, version 0.9).

A site with more than 1,000 pages has an index of files. Each file has the nodes with the same first
one or two characters of `url_key`. Keys are digests: files have about the same size, and a new node
changes one file. The `lastmod` of a page is the time of its latest visible comment.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any

from chalicelib.comments import nodes
from chalicelib.comments.entries.rows import ENTRIES, VISIBLE
from chalicelib.comments.page_urls import key_of, plain
from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.sitemaps import FILE_PAGES, sitemap, sitemap_index

# The characters of keys, in the order of their codes.
_CHARACTERS = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"


def document(runtime: Runtime, site: str, part: str, most: int) -> str:
    """Return the sitemap of a site, or the index of its files.

    `part`: the first characters of the keys in one file; empty: the whole site. `most`: the most
    nodes of the sitemap.
    """
    if not part and _digits(runtime, site):
        return sitemap_index(files(runtime, site))
    found: dict[str, datetime | None] = {}
    rows: Any = nodes.NODES.of(runtime.database).aggregate(stages(site, part, most, runtime.now()))
    for row in rows:
        url, latest = plain(row["url"]), row["latest"][0]["posted"] if row["latest"] else None
        known = found.get(url)
        found[url] = max(known, latest) if known and latest else known or latest
    return sitemap(found.items())


def find_listed_pages(runtime: Runtime, site: str, urls: Collection[str]) -> set[str]:
    """Return the addresses among `urls` with a public node at the site, in one query."""
    by_key = {key_of(url): url for url in urls}
    where = {"site": site, "url_key": {"$in": sorted(by_key)}, **_public(runtime.now())}
    rows: Any = nodes.NODES.of(runtime.database).find(where, {"url_key": 1})
    found = {row["url_key"] for row in rows}
    return {url for url in urls if key_of(url) in found}


def _digits(runtime: Runtime, site: str) -> int:
    """Return how many characters of keys name a file; 0: all pages fit into one."""
    most_of_one = FILE_PAGES * len(_CHARACTERS)
    where = {"site": site, "url_key": {"$gt": ""}}
    # A higher number makes no difference.
    counted = nodes.NODES.of(runtime.database).count_documents(where, limit=most_of_one + 1)
    if counted <= FILE_PAGES:
        return 0
    return 1 if counted <= most_of_one else 2


def files(runtime: Runtime, site: str) -> list[str]:
    """Return the addresses of the files that have all pages with discussions at a site."""
    base, names = f"{runtime.settings.public_url}/sites/{site}/discussions.xml", [""]
    for _ in range(_digits(runtime, site)):
        names = [name + each for name in names for each in _CHARACTERS]
    return [f"{base}?part={name}" if name else base for name in names]


def stages(site: str, part: str, most: int, now: datetime) -> list[Document]:
    """Return the stages that give public nodes, each with its latest visible comment, by keys."""
    keys: Document = {"$gt": "", "$gte": part, "$lt": f"{part}\x7f"}
    newest: list[Document] = [
        {"$match": {"site": site, **VISIBLE, "$expr": {"$eq": ["$node_id", "$$node"]}}},
        {"$sort": {"posted": -1}},
        {"$limit": 1},
        {"$project": {"posted": 1}},
    ]
    return [
        {"$match": {"site": site, "url_key": keys, **_public(now)}},
        {"$sort": {"url_key": 1, "_id": 1}},
        {"$limit": most},
        {"$project": {"url": 1}},
        {
            "$lookup": {
                "from": ENTRIES.name,
                "let": {"node": "$_id"},
                "pipeline": newest,
                "as": "latest",
            }
        },
    ]


def _public(now: datetime) -> Document:
    """Return the filter of nodes that exist, and are public."""
    begun, going_on = {"$not": {"$gt": now}}, {"$not": {"$lte": now}}
    return {"public_from": begun, "public_until": going_on, **nodes.OCCUPIED}
