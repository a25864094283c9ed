"""Changes of nodes with the rights that each change needs."""

import contextlib

from chalicelib.comments import nodes
from chalicelib.comments.errors import NodeMoved, SiteIsFixed, UnknownNode
from chalicelib.comments.forms import NodeSettings
from chalicelib.comments.lifecycle import relocation, vacancies
from chalicelib.comments.node_ids import site_of, site_of_new
from chalicelib.comments.shapes import Node, StoreName
from chalicelib.comments.sites.settings import closing_at
from chalicelib.comments.stores.promotion import request_move
from chalicelib.errors import Forbidden, Unavailable
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import DEFAULT_SITE
from chalicelib.sites.permissions import moderates, owns

_PUT_ATTEMPTS = 3


def put_node(
    runtime: Runtime, node_id: str, settings: NodeSettings, caller: Principal
) -> tuple[Node, bool]:
    """Make or change a node; return it, and whether it is new.

    A new node belongs to the site that its id names. Raises InvalidRequest if no new node may
    have the id, Forbidden, SiteIsFixed, CannotThread, NodeHasComments, and Unavailable if
    deletions of the node keep interfering.
    """
    for _ in range(_PUT_ATTEMPTS):
        with contextlib.suppress(UnknownNode):
            return _put(runtime, node_id, settings, caller)
    raise Unavailable("The discussion is being deleted")


def _put(
    runtime: Runtime, node_id: str, settings: NodeSettings, caller: Principal
) -> tuple[Node, bool]:
    """Make or change a node, as `put_node`; raises UnknownNode for a node deleted meanwhile."""
    try:
        node = nodes.find(runtime.database, node_id)
    except UnknownNode:
        site = site_of_new(node_id)
        _check_manages(caller, site)
        if settings.site not in {None, site}:
            raise SiteIsFixed from None
        node = nodes.new_node(node_id, site, settings)
        node["closes_at"] = closing_at(runtime, site, settings)
        if vacancies.insert(runtime, node):
            return node, True
        node = nodes.find(runtime.database, node_id)
    _check_manages(caller, node["site"])
    if settings.site not in {None, node["site"]}:
        raise SiteIsFixed
    return nodes.update(runtime.database, node, settings), False


def move_node(runtime: Runtime, node_id: str, store: StoreName, caller: Principal) -> Node:
    """Move a node to another store, as its publisher; see `promotion.request_move`."""
    node = nodes.find(runtime.database, node_id)
    if not owns(caller, node["site"]):
        raise Forbidden(f"You are not the publisher of the site {node['site']}")
    return request_move(runtime, node, store)


def delete_node(runtime: Runtime, node_id: str, caller: Principal) -> None:
    """Delete a node with its comments, or the forward that a move left there, as the publisher.

    A forward belongs to the site that the id names. Raises UnknownNode and Forbidden.
    """
    try:
        site, delete = nodes.find(runtime.database, node_id)["site"], vacancies.delete
    except NodeMoved:
        site, delete = site_of(node_id) or DEFAULT_SITE, vacancies.stop_forwarding
    if not owns(caller, site):
        raise Forbidden(f"You are not the publisher of the site {site}")
    delete(runtime, node_id)


def relocate_node(runtime: Runtime, node_id: str, to: str) -> Node:
    """Move a node to another id; see `relocation.request`. Raises InvalidRequest for the id."""
    site_of_new(to)
    return relocation.request(runtime, node_id, to)


def _check_manages(caller: Principal, site: str) -> None:
    if not moderates(caller, site):
        raise Forbidden(f"You do not manage the site {site}")
