"""Discussions that the first visit of a page makes, where the site's publisher allows it.

A caller can send any address. So a node's id must follow from the address of its page: below
`https://harbour.example/articles/`, the page `2026/moon` has the node `harbour:2026:moon`. A
stranger can neither take the id of another page nor lead a discussion to another site.
"""

from datetime import timedelta
from urllib.parse import SplitResult, urlsplit

from chalicelib import limits
from chalicelib.comments import nodes
from chalicelib.comments.errors import PageRefused, UnknownNode
from chalicelib.comments.forms import NodeSettings, VisitedPage
from chalicelib.comments.lifecycle import vacancies
from chalicelib.comments.node_ids import site_of
from chalicelib.comments.shapes import Node
from chalicelib.comments.sites import settings
from chalicelib.http import Request
from chalicelib.identity import Principal

# The limit of nodes that a site's visits make: a burst, then one node every three minutes.
SITE_BURST, SITE_EVERY = 500, timedelta(minutes=3)


def open_page(
    request: Request, node_id: str, page: VisitedPage, caller: Principal | None
) -> tuple[Node, bool]:
    """Return a page's node, and whether this visit made it.

    Raises UnknownNode where visits make none, PageRefused, TooFast, and NodeMoved.
    """
    runtime = request.runtime
    try:
        return nodes.find_for(runtime, node_id, caller), False
    except UnknownNode:
        site = site_of(node_id)
    prefixes = settings.of(runtime, site).get("first_visits", []) if site else []
    if site is None or not prefixes:
        raise UnknownNode
    check(node_id, page.url, request.raw.headers.get("origin"), prefixes)
    _count(request, site)
    given = NodeSettings(title=page.title, url=page.url)
    node = nodes.new_node(node_id, site, given)
    node["closes_at"] = settings.closing_at(runtime, site)
    if vacancies.insert(runtime, node):
        return node, True
    return nodes.find_for(runtime, node_id, caller), False


def check(node_id: str, url: str, origin: str | None, prefixes: list[str]) -> None:
    """Raise PageRefused unless a page of this origin and address may make the node."""
    address = urlsplit(url)
    below = [each for each in map(urlsplit, prefixes) if _is_below(address, each)]
    if not below:
        raise PageRefused("The address is not below one of the site's `first_visits`")
    if origin is None or origin.lower() not in {_origin(each) for each in below}:
        raise PageRefused("The call does not come from a page of this address")
    if address.query or address.fragment or "#" in url or "?" in url:
        raise PageRefused("A page with a query has no node of its own: its publisher makes one")
    wanted = {_name(address.path[len(each.path) :]) for each in below}
    site, colon, rest = node_id.partition(":")
    if (rest if colon else site) not in wanted:
        raise PageRefused("The node's id does not follow from the page's address")


def _is_below(address: SplitResult, prefix: SplitResult) -> bool:
    return _origin(address) == _origin(prefix) and address.path.startswith(prefix.path)


def _origin(address: SplitResult) -> str:
    """Return an address's origin; with a user or a password, it equals no browser's origin."""
    return f"{address.scheme}://{address.netloc}".lower()


def _name(path: str) -> str | None:
    """Return a node's name for a page's path below a prefix; None: the path makes no name."""
    parts = path.removesuffix("/").split("/")
    is_plain = all(part not in {"", ".", ".."} and ":" not in part for part in parts)
    return ":".join(parts) if is_plain else None


def _count(request: Request, site: str) -> None:
    """Count a new node for the caller's network and for the site; raises TooFast."""
    request.count(limits.FIRST_VISITS)
    factor = request.runtime.settings.limits
    if factor is not None:
        row = limits.scale(f"first visits:{site}", SITE_BURST, SITE_EVERY, factor)
        limits.count(request.runtime, [row])
