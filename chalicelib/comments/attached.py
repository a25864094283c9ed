"""Discussions of published content: each begins, changes and ends with its page."""

import contextlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from pymongo.client_session import ClientSession

from chalicelib import happenings
from chalicelib.comments import nodes
from chalicelib.comments.errors import NodeMoved, UnknownNode
from chalicelib.comments.forms import NodeSettings
from chalicelib.comments.lifecycle import vacancies
from chalicelib.comments.node_ids import site_of_new
from chalicelib.comments.page_urls import fields_of
from chalicelib.comments.permissions import NEVER, is_public
from chalicelib.comments.sites.settings import closes_after
from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime


class PublicTime(NamedTuple):
    """The public period of an edition of a page; `begin` None: no period, `end` None: no end."""

    edition: int
    begin: datetime | None
    end: datetime | None = None

    @property
    def fields(self) -> Document:
        """The node's fields for this period."""
        begin = self.begin or NEVER
        return {"page_edition": self.edition, "public_from": begin, "public_until": self.end}


class NamedPage(NamedTuple):
    """The title and the address of a page; `is_locked`: lock its node if the node is new."""

    title: str
    url: str
    is_locked: bool = False

    @property
    def fields(self) -> Document:
        """The node's fields for this title and address."""
        return {"title": self.title, **fields_of(self.url)}


def begin(
    runtime: Runtime, node_id: str, page: NamedPage, public: PublicTime, session: ClientSession
) -> None:
    """Make a page's node in a transaction, or update the page's fields of an existing node.

    Raises InvalidRequest if a new node may not have the id, and Unavailable while rows of a former
    node remain at the id, or if another request takes the id.
    """
    left = nodes.look(runtime.database, node_id, session)
    settings = NodeSettings(title=page.title, url=page.url, locked=page.is_locked)
    site = site_of_new(node_id)
    node = nodes.new_node(node_id, site, settings)
    if (days := closes_after(runtime, site)) is not None:
        node["closes_at"] = max(runtime.now(), public.begin or runtime.now()) + timedelta(days=days)
        node["closes_after"] = days
    node |= public.fields  # type: ignore[typeddict-item]
    if left is None:
        nodes.NODES.of(runtime.database).insert_one(node, session=session)
    elif "vacant" not in left:
        _set(runtime, node_id, {**page.fields, **public.fields}, session)
    else:
        vacancies.clear(runtime, left)
        if not nodes.take_over(runtime.database, left, node, session):
            raise Unavailable("Another request is making this discussion")


def update(
    runtime: Runtime,
    node_id: str,
    page: NamedPage | None,
    public: PublicTime,
    *,
    close: bool | None,
) -> None:
    """Set the public period of a node's page; with `page`, also its title and address.

    `close`: True locks the node, False unlocks it, None changes nothing. Without a node at the
    id, after its move to another id, or after the update of a later edition, nothing happens. If
    the page was not public yet, the node closes as many days after the new begin as after the
    former.
    """
    _close_later(runtime, node_id, public)
    locked = {} if close is None else {"locked": close}
    named = page.fields if page else {}
    change = {**named, **public.fields, **locked}
    if is_public(public.fields, runtime.now()):
        _set(runtime, node_id, change, not_after=public.edition)
        return
    # Actions of comments name the page, which readers no longer see.
    with happenings.telling(runtime, site_of_new(node_id), "discussion", node_id):
        _set(runtime, node_id, change, not_after=public.edition)


def _close_later(runtime: Runtime, node_id: str, public: PublicTime) -> None:
    """Move a node's closing with the new begin of its page, unless the page was public before."""
    if public.begin is None:
        return
    node, now = nodes.look(runtime.database, node_id), runtime.now()
    days = node.get("closes_after") if node else None
    closes_at = node["closes_at"] if node else None
    if days is None or closes_at is None:
        return
    open_for = timedelta(days=days)
    if closes_at - open_for > now:
        this = {"_id": node_id, "closes_at": closes_at, "closes_after": days}
        this |= _of_edition(public.edition)
        later = {"$set": {"closes_at": max(public.begin, now) + open_for}}
        nodes.NODES.of(runtime.database).update_one(this, later)


def end(runtime: Runtime, node_id: str) -> None:
    """Delete a node with its comments; without a node, nothing happens."""
    with contextlib.suppress(UnknownNode, NodeMoved):
        vacancies.delete(runtime, node_id)


def _set(
    runtime: Runtime,
    node_id: str,
    change: Mapping[str, Any],
    session: ClientSession | None = None,
    *,
    not_after: int | None = None,
) -> None:
    where = {"_id": node_id, **nodes.OCCUPIED}
    if not_after is not None:
        where |= _of_edition(not_after)
    update = {"$set": dict(change), "$inc": nodes.RAISED}
    nodes.NODES.of(runtime.database).update_one(where, update, session=session)


def _of_edition(edition: int) -> Document:
    """Return a filter of nodes that no later edition of their page has updated.

    A worker may read its page, be overtaken by the worker of a later edition, and die right after
    its own write: nobody would repair the discussion of an unpublished page, which is public then.
    """
    return {"page_edition": {"$not": {"$gt": edition}}}
