"""Pages as the activity feed reports them."""

from chalicelib.content import settings
from chalicelib.content.nodes import NODES
from chalicelib.content.shapes import ContentNode
from chalicelib.content.visibility import date_of, edition_at
from chalicelib.happenings import Cause
from chalicelib.runtime import Runtime

KIND = "page"


def name_of(node: ContentNode) -> str:
    """Return a page's name in happenings, `site:id`.

    It is also the id of the page's discussion, unless the page is imported.
    """
    return f"{node['site']}:{node['_id']}"


def find(runtime: Runtime, thing: str) -> Cause | None:
    """Return the cause of a page's happening. None: the page is not visible or has no author."""
    site, _, node_id = thing.partition(":")
    fields = {"draft": 0, "live.html": 0, "live.detail": 0, "next.html": 0, "next.detail": 0}
    node = NODES.of(runtime.database).find_one({"_id": node_id, "site": site}, fields)
    edition = edition_at(node, runtime.now()) if node else None
    if node is None or edition is None or node["author"] is None or node["published"] is None:
        return None
    site_settings = settings.get(runtime.database, site)
    return Cause(
        author_id=node["author"]["id"],
        author_name=node["author"]["name"],
        at=date_of(node) or node["published"],
        thing_id=node_id,
        page_id=thing,
        page_name=edition["title"],
        url=settings.url_of(site_settings, edition["slug"]),
    )
