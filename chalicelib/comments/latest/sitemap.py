"""Sitemaps of the pages with discussions at a site (sitemaps.org, version 0.9).

A site with many has an index of files. Each file has the nodes whose keys of addresses begin with
the same characters: keys are digests, so that files are of about one size, and a new node changes
one file. A page was last changed when its latest comment was written that anybody sees.
"""

from datetime import datetime
from typing import Any
from xml.sax.saxutils import escape

from chalicelib.comments import nodes
from chalicelib.comments.entries.rows import ENTRIES, TAKING_PART
from chalicelib.comments.page_urls import plain
from chalicelib.database import Document
from chalicelib.runtime import Runtime

# The pages of a file, and the most that a file of many has.
FILE_PAGES, MOST_PAGES = 1_000, 5_000
# More pages of a site than there are files for.
_MOST_COUNTED = 5_000_000
# The characters of keys, in the order of their codes.
_CHARACTERS = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def document(runtime: Runtime, site: str, part: str, most: int) -> str:
    """Return the sitemap of a site, or an index of its files; `part` not empty: one of these.

    It has at most so many pages.
    """
    digits = 0 if part else _digits(runtime, site)
    if digits:
        return _index(runtime, site, digits)
    found: dict[str, datetime | None] = {}
    rows: Any = nodes.NODES.of(runtime.database).aggregate(stages(site, part, most, runtime.now()))
    for row in rows:
        url, latest = plain(row["url"]), row["latest"][0]["posted"] if row["latest"] else None
        known = found.get(url)
        found[url] = max(known, latest) if known and latest else known or latest
    items = "".join(f"<url>{_item(url, latest)}</url>\n" for url, latest in found.items())
    return f'{_HEAD}<urlset xmlns="{_NAMESPACE}">\n{items}</urlset>\n'


def _digits(runtime: Runtime, site: str) -> int:
    """Return how many characters of keys name a file; 0: all pages fit into one."""
    where = {"site": site, "url_key": {"$gt": ""}}
    counted = nodes.NODES.of(runtime.database).count_documents(where, limit=_MOST_COUNTED)
    if counted <= FILE_PAGES:
        return 0
    return 1 if counted <= FILE_PAGES * len(_CHARACTERS) else 2


def _index(runtime: Runtime, site: str, digits: int) -> str:
    names = [""]
    for _ in range(digits):
        names = [name + each for name in names for each in _CHARACTERS]
    base = escape(f"{runtime.settings.public_url}/sites/{site}/discussions.xml")
    items = "".join(f"<sitemap><loc>{base}?part={name}</loc></sitemap>\n" for name in names)
    return f'{_HEAD}<sitemapindex xmlns="{_NAMESPACE}">\n{items}</sitemapindex>\n'


def stages(site: str, part: str, most: int, now: datetime) -> list[Document]:
    """Return the stages that give public nodes, each with its latest visible comment, by keys."""
    keys: Document = {"$gt": "", "$gte": part, "$lt": f"{part}\x7f"}
    begun, going_on = {"$not": {"$gt": now}}, {"$not": {"$lte": now}}
    public = {"public_from": begun, "public_until": going_on, **nodes.OCCUPIED}
    newest: list[Document] = [
        {"$match": {"site": site, **TAKING_PART, "$expr": {"$eq": ["$node_id", "$$node"]}}},
        {"$sort": {"posted": -1}},
        {"$limit": 1},
        {"$project": {"posted": 1}},
    ]
    return [
        {"$match": {"site": site, "url_key": keys, **public}},
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


def _item(url: str, latest: datetime | None) -> str:
    changed = f"<lastmod>{latest:%Y-%m-%dT%H:%M:%SZ}</lastmod>" if latest else ""
    return f"<loc>{escape(url)}</loc>{changed}"
