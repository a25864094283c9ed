"""The sitemaps of a site: an index, and files of pages outside the discussions' sitemaps.

A site with many pages has several files of about the same size, each for a span of publication
times.
"""

import math
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from chalicelib.content import settings
from chalicelib.content.errors import UnknownContentSite
from chalicelib.content.nodes import NODES
from chalicelib.content.publishing.discussions import Discussions
from chalicelib.content.settings import url_of
from chalicelib.content.visibility import edition_at, shown_filter
from chalicelib.database import Document
from chalicelib.http import Input, Request, Route
from chalicelib.instants import milliseconds, moment
from chalicelib.memory import remember
from chalicelib.runtime import Runtime
from chalicelib.sitemaps import (
    CACHING,
    FILE_PAGES,
    MOST_PAGES,
    Sitemap,
    sitemap,
    sitemap_index,
)
from chalicelib.sites.ids import SiteId

_HEADERS = {"Cache-Control": CACHING}
# Bounds the count of a site's pages, and so its files; a larger site has larger files.
_MOST_COUNTED = 5_000_000
_WITHOUT_TEXTS = {
    f"{edition}.{field}": 0 for edition in ("live", "next") for field in ("html", "detail")
}


class PagesQuery(Input):
    """The query of a sitemap of pages."""

    part: Annotated[str, StringConstraints(pattern=r"^([0-9]{1,14}-[0-9]{0,14})?$")] = Field(
        "", description="A file of a site with many pages: from the address in the index."
    )


def declare(route: Route, discussions: Discussions) -> None:
    """Declare the routes; `discussions` have sitemaps of their own."""

    @route("GET", "/content/{site}/sitemap.xml", raises=(UnknownContentSite,))
    def get_sitemap_of_site(request: Request, site: SiteId) -> Sitemap:
        """Read the index of a site's sitemaps: of its pages, and of pages with discussions.

        No page is in two sitemaps.
        """
        runtime = request.runtime
        settings.recall(runtime, site)
        found = [*_files(runtime, site), *discussions.sitemaps(runtime, site)]
        return Sitemap(sitemap_index(found), _HEADERS)

    @route("GET", "/content/{site}/pages.xml", rows=MOST_PAGES, raises=(UnknownContentSite,))
    def get_sitemap_of_pages(request: Request, site: SiteId, query: PagesQuery) -> Sitemap:
        """Read a sitemap of a site's pages that no sitemap of discussions has, newest first.

        A page's last change is the start of its last edition that is not minor.
        """
        pages = _pages(request.runtime, site, query.part, request.rows)
        with_discussions = discussions.in_sitemaps(request.runtime, site, list(pages))
        kept = ((url, at) for url, at in pages.items() if url not in with_discussions)
        return Sitemap(sitemap(kept), _HEADERS)


@remember(seconds=300)
def _files(runtime: Runtime, site: str) -> list[str]:
    """Return the addresses of a site's files; the files together have all visible pages.

    Reads the index entries of all these pages; the result holds for 300 s. The last file has no
    end, and room for thousands of new pages.
    """
    base, rows = f"{runtime.settings.public_url}/content/{site}/pages.xml", NODES
    shown = {"site": site, **shown_filter(runtime.now())}
    number = rows.of(runtime.database).count_documents(shown, limit=_MOST_COUNTED)
    if number <= FILE_PAGES:
        return [base]
    stages: list[Document] = [
        {"$match": shown},
        {"$project": {"_id": 0, "published": 1}},
        {"$bucketAuto": {"groupBy": "$published", "buckets": math.ceil(number / FILE_PAGES)}},
    ]
    found: Any = rows.of(runtime.database).aggregate(stages)
    begins = [milliseconds(each["_id"]["min"]) for each in found]
    # The first file has no beginning and the last no end, so that no new page is missing.
    parts = zip(["0", *map(str, begins[1:])], [*map(str, begins[1:]), ""], strict=True)
    return [f"{base}?part={begin}-{end}" for begin, end in parts]


def _pages(runtime: Runtime, site_id: str, part: str, most: int) -> dict[str, datetime]:
    """Return the URLs of a file's pages, at most `most`, newest first, with their last changes.

    part: `begin-end` in milliseconds of publication, end excluded. Empty: no bound.
    """
    site, now = settings.recall(runtime, site_id), runtime.now()
    begin, _, end = part.partition("-")
    within: list[Document] = [{"site": site_id, **shown_filter(now)}]
    if begin:
        within.append({"published": {"$gte": moment(int(begin))}})
    if end:
        within.append({"published": {"$lt": moment(int(end))}})
    rows = NODES.of(runtime.database).find({"$and": within}, {"draft": 0, **_WITHOUT_TEXTS})
    found: dict[str, datetime] = {}
    for node in rows.sort([("published", -1), ("_id", -1)]).limit(most):
        edition = edition_at(node, now)
        if edition is not None:
            found[url_of(site, edition["slug"])] = edition["updated"]
    return found
