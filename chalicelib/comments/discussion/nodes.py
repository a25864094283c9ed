"""Creating, changing and moving nodes, for who manages their site."""

from chalicelib.comments import nodes
from chalicelib.comments.discussion.reading import checked_site
from chalicelib.comments.errors import SiteIsFixed, UnknownNode
from chalicelib.comments.models import (
    NodeSettings,
)
from chalicelib.comments.permissions import manages
from chalicelib.comments.store import StoreName
from chalicelib.comments.stores.promotion import request_move
from chalicelib.database import Document
from chalicelib.errors import Forbidden
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime


def put_node(
    runtime: Runtime, node_id: str, settings: NodeSettings, caller: Principal
) -> tuple[Document, bool]:
    """Make or change a node; return it, and whether it is new.

    A new one belongs to the site that its id names. Raises InvalidRequest for an id that no
    new node may have, Forbidden, SiteIsFixed, CannotThread and NodeHasComments.
    """
    try:
        node = nodes.find(runtime.database, node_id)
    except UnknownNode:
        site = checked_site(node_id)
        _check_manages(caller, site)
        if settings.site not in {None, site}:
            raise SiteIsFixed from None
        node = nodes.new_node(node_id, site, settings)
        if nodes.insert(runtime.database, node):
            return node, True
        node = nodes.find(runtime.database, node_id)
    _check_manages(caller, node["site"])
    if settings.site not in {None, node["site"]}:
        raise SiteIsFixed
    return nodes.update(runtime.database, node, settings), False


def move_node(runtime: Runtime, node_id: str, store: StoreName, caller: Principal) -> Document:
    """Move a node to another store, as its publisher; see `promotion.request_move`."""
    node = nodes.find(runtime.database, node_id)
    if not caller.owns(node["site"]):
        raise Forbidden(f"You are not the publisher of the site {node['site']}")
    return request_move(runtime, node, store)


def _check_manages(caller: Principal, site: str) -> None:
    if not manages(caller, site):
        raise Forbidden(f"You do not manage the site {site}")
