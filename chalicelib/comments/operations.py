"""What can be done with nodes and their comments, and by whom."""

from typing import Any

import orjson

from chalicelib.comments import nodes
from chalicelib.comments.models import CommentsQuery, NodeSettings, comment_answer
from chalicelib.comments.order import position
from chalicelib.comments.rights import default_site, moderates, publishes, viewer
from chalicelib.comments.store import Comment, Page
from chalicelib.comments.stores import ask
from chalicelib.cursors import decode_cursor, encode_cursor
from chalicelib.database import Document
from chalicelib.errors import Forbidden, SiteIsFixed, UnknownComment, UnknownNode
from chalicelib.http import PageQuery
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime

# Lambda's answers end at 6 MB; a page that would be longer ends early, with a cursor.
MAX_PAGE_BYTES = 4_000_000


def put_node(
    runtime: Runtime, node_id: str, settings: NodeSettings, caller: Principal
) -> tuple[Document, bool]:
    """Make or change a node; return it, and whether it is new.

    Raises Forbidden, SiteIsFixed, CannotThread and NodeHasComments.
    """
    try:
        node = nodes.find(runtime.database, node_id)
    except UnknownNode:
        site = settings.site or default_site(caller)
        _check_manages(caller, site)
        node = nodes.new_node(node_id, settings, site)
        if nodes.insert(runtime.database, node):
            return node, True
        node = nodes.find(runtime.database, node_id)
    _check_manages(caller, node["site"])
    if settings.site not in {None, node["site"]}:
        raise SiteIsFixed
    return nodes.update(runtime.database, node, settings), False


def list_comments(
    runtime: Runtime, node_id: str, query: CommentsQuery, caller: Principal | None
) -> dict[str, Any]:
    """Return a page of a node's comments: `{comments, next, count}`."""
    node = nodes.find(runtime.database, node_id)
    scope = f"comments:{node_id}:{query.order}:{node['threaded']}"
    page = Page(
        query.order, query.limit + 1, _after(runtime, query, scope), viewer(caller, node["site"])
    )
    rows = ask(runtime.database, node, lambda store, now: store.page(now, page))
    return {**_page(runtime, node, rows, query.limit, scope), "count": node["counts"]["visible"]}


def get_comment(
    runtime: Runtime, node_id: str, comment_id: str, caller: Principal | None
) -> Comment:
    """Return a comment that the caller may see; raises UnknownNode and UnknownComment."""
    return _find(runtime, nodes.find(runtime.database, node_id), comment_id, caller)


def list_thread(
    runtime: Runtime, node_id: str, comment_id: str, query: PageQuery, caller: Principal | None
) -> dict[str, Any]:
    """Return a page of a comment and its descendants, depth-first: `{comments, next}`."""
    node = nodes.find(runtime.database, node_id)
    root = _find(runtime, node, comment_id, caller)
    scope = f"thread:{node_id}:{comment_id}"
    page = Page(
        "oldest", query.limit + 1, _after(runtime, query, scope), viewer(caller, node["site"])
    )
    rows = ask(runtime.database, node, lambda store, now: store.thread(now, root, page))
    return _page(runtime, node, rows, query.limit, scope)


def _find(runtime: Runtime, node: Document, comment_id: str, caller: Principal | None) -> Comment:
    comment = ask(runtime.database, node, lambda store, now: store.get(now, comment_id))
    if comment is None or not viewer(caller, node["site"]).sees(comment):
        raise UnknownComment
    return comment


def _after(runtime: Runtime, query: PageQuery, scope: str) -> tuple[Any, ...] | None:
    if query.cursor is None:
        return None
    return tuple(decode_cursor(query.cursor, scope, runtime.settings.signing_keys))


def _page(
    runtime: Runtime, node: Document, rows: list[Comment], limit: int, scope: str
) -> dict[str, Any]:
    """Cut rows to the limit and to the bytes that an answer may have; give the next cursor."""
    shown: list[dict[str, Any]] = []
    size = 0
    for row in rows[:limit]:
        answer = comment_answer(node["_id"], row)
        size += len(orjson.dumps(answer))
        if shown and size > MAX_PAGE_BYTES:
            break
        shown.append(answer)
    more = len(shown) < len(rows)
    keys = runtime.settings.signing_keys
    last = position(node, rows[len(shown) - 1]) if more else ()
    return {"comments": shown, "next": encode_cursor(last, scope, keys) if more else None}


def _check_manages(caller: Principal, site: str) -> None:
    if not publishes(caller, site) and not moderates(caller, site):
        raise Forbidden(f"The site {site} is not yours")
