"""Discussions of what a site publishes: made, named, closed and ended with it."""

import contextlib
from collections.abc import Mapping
from typing import Any

from pymongo.client_session import ClientSession

from chalicelib.comments import nodes
from chalicelib.comments.errors import NodeMoved, UnknownNode
from chalicelib.comments.forms import NodeSettings
from chalicelib.comments.lifecycle import vacancies
from chalicelib.comments.node_ids import site_of_new
from chalicelib.comments.sites.settings import closing_at
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime


def begin(runtime: Runtime, node_id: str, title: str, url: str, session: ClientSession) -> None:
    """Make a node in a transaction; one that is there keeps its comments and settings.

    Raises InvalidRequest for an id that no new node may have.
    """
    left = nodes.look(runtime.database, node_id, session)
    settings = NodeSettings(title=title, url=url)
    site = site_of_new(node_id)
    node = nodes.new_node(node_id, site, settings)
    node["closes_at"] = closing_at(runtime, site)
    if left is None:
        nodes.NODES.of(runtime.database).insert_one(node, session=session)
    elif "vacant" not in left:
        _set(runtime, node_id, {"title": title, "url": url}, session)
    else:
        vacancies.clear(runtime, left)
        if not nodes.take_over(runtime.database, left, node, session):
            raise Unavailable("Another request is making this discussion")


def tell(runtime: Runtime, node_id: str, title: str, url: str, *, close: bool | None) -> None:
    """Give a node another title and address; close or open it, unless `close` is None.

    Nothing happens if there is no such node, or if it was moved to another id.
    """
    locked = {} if close is None else {"locked": close}
    _set(runtime, node_id, {"title": title, "url": url, **locked})


def end(runtime: Runtime, node_id: str) -> None:
    """Delete a node with its comments, if there is one."""
    with contextlib.suppress(UnknownNode, NodeMoved):
        vacancies.delete(runtime, node_id)


def _set(
    runtime: Runtime,
    node_id: str,
    change: Mapping[str, Any],
    session: ClientSession | None = None,
) -> None:
    where = {"_id": node_id, **nodes.OCCUPIED}
    update = {"$set": dict(change), "$inc": nodes.RAISED}
    nodes.NODES.of(runtime.database).update_one(where, update, session=session)
