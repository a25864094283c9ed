"""Analytics' adapter to content and comments: which paths are real pages of their site."""

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from chalicelib.analytics.reports.days import Place
from chalicelib.analytics.visitors import paths
from chalicelib.comments.nodes import NODES
from chalicelib.content.publishing.addresses import ADDRESSES, key, leads_somewhere
from chalicelib.content.settings import SITES
from chalicelib.runtime import Runtime


class PagesOfSites:
    """Published pages of content, and pages with a discussion; see `analytics.reports.names`."""

    def among(self, runtime: Runtime, asked: Mapping[Place, Iterable[str]]) -> set[Place]:
        """Return the places with the path of a content page, or of the page of one of their nodes.

        `asked`: nodes by place. Takes at most three round trips: settings, addresses, nodes.
        """
        return _of_content(runtime, asked) | _of_nodes(runtime, asked)


def _of_content(runtime: Runtime, asked: Iterable[Place]) -> set[Place]:
    names = sorted({place.subject.site for place in asked})
    found: Any = SITES.of(runtime.database).find({"_id": {"$in": names}}, {"base_url": 1})
    roots = {site["_id"]: urlsplit(site["base_url"]).path for site in found}
    places: dict[str, list[Place]] = {}
    for place in asked:
        site, _, path = place.subject
        root = roots.get(site)
        if root is not None and path.startswith(f"{root}/"):
            places.setdefault(key(site, path.removeprefix(f"{root}/")), []).append(place)
    if not places:
        return set()
    public = {"_id": {"$in": list(places)}, **leads_somewhere(runtime.now())}
    rows: Any = ADDRESSES.of(runtime.database).find(public, {"_id": 1})
    return {place for row in rows for place in places[row["_id"]]}


def _of_nodes(runtime: Runtime, asked: Mapping[Place, Iterable[str]]) -> set[Place]:
    ids = sorted({node for nodes in asked.values() for node in nodes})
    if not ids:
        return set()
    rows: Any = NODES.of(runtime.database).find({"_id": {"$in": ids}}, {"site": 1, "url": 1})
    pages = {row["_id"]: (row["site"], paths.find(urlsplit(row["url"]).path)) for row in rows}
    return {
        place
        for place, nodes in asked.items()
        if any(pages.get(node) == (place.subject.site, place.subject.value) for node in nodes)
    }


PAGES = PagesOfSites()
