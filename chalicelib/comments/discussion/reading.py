"""What can be done with nodes and their comments, and by whom."""

from typing import Any

from chalicelib.comments import nodes
from chalicelib.comments.errors import NodeMoved
from chalicelib.comments.lifecycle import relocation, vacancies
from chalicelib.comments.models import (
    CommentsQuery,
    comment_answer,
)
from chalicelib.comments.node_ids import site_of
from chalicelib.comments.order import position
from chalicelib.comments.permissions import viewer
from chalicelib.comments.store import Comment, Page
from chalicelib.comments.stores import ask
from chalicelib.database import Document
from chalicelib.errors import FieldError, Forbidden, InvalidRequest, UnknownComment
from chalicelib.http import PageQuery, payloads
from chalicelib.http.cursors import decode_cursor, encode_cursor
from chalicelib.identity import DEFAULT_SITE, Principal
from chalicelib.runtime import Runtime

# The other members of a comment: ids, a path of up to 17 of them, a name of 100 characters, times.
_BYTES_BESIDE_TEXT = 3_000


def list_comments(
    runtime: Runtime, node_id: str, query: CommentsQuery, caller: Principal | None
) -> dict[str, Any]:
    """Return a page of a node's comments: `{comments, next, count}`."""
    node = nodes.find(runtime.database, node_id)
    scope = f"comments:{node_id}:{query.order}:{node['threaded']}"
    page = Page(
        query.order, query.limit + 1, _after(runtime, query, scope), viewer(caller, node["site"])
    )
    rows = ask(runtime, node, lambda store, now: store.page(now, page))
    return {**_page(runtime, node, rows, page, scope), "count": node["counts"]["visible"]}


def get_comment(
    runtime: Runtime, node_id: str, comment_id: str, caller: Principal | None
) -> Comment:
    """Return a comment that the caller may see; raises UnknownNode and UnknownComment."""
    node = nodes.find(runtime.database, node_id)
    found = find(runtime, node, comment_id, caller)
    return viewer(caller, node["site"]).shown(found)


def list_thread(
    runtime: Runtime, node_id: str, comment_id: str, query: PageQuery, caller: Principal | None
) -> dict[str, Any]:
    """Return a page of a comment and its descendants, depth-first: `{comments, next}`."""
    node = nodes.find(runtime.database, node_id)
    root = find(runtime, node, comment_id, caller)
    scope = f"thread:{node_id}:{comment_id}"
    page = Page(
        "oldest", query.limit + 1, _after(runtime, query, scope), viewer(caller, node["site"])
    )
    rows = ask(runtime, node, lambda store, now: store.thread(now, root, page))
    return _page(runtime, node, rows, page, scope)


def delete_node(runtime: Runtime, node_id: str, caller: Principal) -> None:
    """Delete a node with its comments, as its publisher, or the forward that a move left there.

    A forward is that of the site which the id names. Raises UnknownNode and Forbidden.
    """
    try:
        site, delete = nodes.find(runtime.database, node_id)["site"], vacancies.delete
    except NodeMoved:
        site, delete = site_of(node_id) or DEFAULT_SITE, vacancies.stop_forwarding
    if not caller.owns(site):
        raise Forbidden(f"You are not the publisher of the site {site}")
    delete(runtime, node_id)


def relocate_node(runtime: Runtime, node_id: str, to: str) -> Document:
    """Move a node to another id; see `relocation.request`. Raises InvalidRequest for the id."""
    checked_site(to)
    return relocation.request(runtime, node_id, to)


def is_author(caller: Principal, comment: Comment) -> bool:
    """Return whether the caller wrote the comment."""
    return comment["author"] is not None and comment["author"]["id"] == caller.id


def find(runtime: Runtime, node: Document, comment_id: str, caller: Principal | None) -> Comment:
    """Return a comment that the caller may see; raises UnknownComment."""
    comment = ask(runtime, node, lambda store, now: store.get(now, comment_id))
    if comment is None or not viewer(caller, node["site"]).sees(comment):
        raise UnknownComment
    return comment


def _after(runtime: Runtime, query: PageQuery, scope: str) -> tuple[Any, ...] | None:
    if query.cursor is None:
        return None
    return tuple(decode_cursor(query.cursor, scope, runtime.settings.signing_keys))


def _page(
    runtime: Runtime, node: Document, rows: list[Comment], page: Page, scope: str
) -> dict[str, Any]:
    """Cut rows to one less than were asked for and to what an answer holds; give the cursor."""
    shown_to = page.viewer.shown
    answers = [comment_answer(node["_id"], shown_to(row)) for row in rows[: page.limit - 1]]
    shown = answers if _are_short(rows) else answers[: payloads.fitting(answers)]
    more = len(shown) < len(rows)
    keys = runtime.settings.signing_keys
    last = position(node, rows[len(shown) - 1]) if more else ()
    return {"comments": shown, "next": encode_cursor(last, scope, keys) if more else None}


def _are_short(rows: list[Comment]) -> bool:
    """Tell by the texts alone that an answer bears the rows, which most pages are done with."""
    characters = sum(len(row["text"] or "") + len(row["html"] or "") for row in rows)
    beside = _BYTES_BESIDE_TEXT * len(rows)
    return payloads.BYTES_A_CHARACTER * characters + beside <= payloads.MAX_BYTES


def checked_site(node_id: str) -> str:
    """Return the site of a new node; raises InvalidRequest for an id that none may have."""
    site = site_of(node_id)
    if site is None:
        told = "A new node's id is [site:]name: a site of a-z, 0-9, _ and -, and not . or .."
        raise InvalidRequest(errors=[FieldError("node", "node_id", told)])
    return site
