"""Discussions of published content: each begins, changes and ends with its page."""

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
    """Make a node in a transaction; an existing node keeps its comments and settings.

    Raises InvalidRequest if a new node may not have the id.
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


def update(runtime: Runtime, node_id: str, title: str, url: str, *, close: bool | None) -> None:
    """Set a node's title and address.

    `close`: True locks the node, False unlocks it, None changes nothing. Without a node at the
    id, or after its move to another id, nothing happens.
    """
    locked = {} if close is None else {"locked": close}
    _set(runtime, node_id, {"title": title, "url": url, **locked})


def end(runtime: Runtime, node_id: str) -> None:
    """Delete a node with its comments; without a node, nothing happens."""
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
