"""What can be done with nodes and their comments, and by whom."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from chalicelib import payloads
from chalicelib.comments import nodes
from chalicelib.comments.changing import change_comment
from chalicelib.comments.models import (
    CommentsQuery,
    NodeSettings,
    StateChange,
    comment_answer,
)
from chalicelib.comments.order import position
from chalicelib.comments.promotion import request_move
from chalicelib.comments.rendering import RENDERER, render
from chalicelib.comments.rights import default_site, moderates, viewer
from chalicelib.comments.store import GONE, Comment, Page, StoreName
from chalicelib.comments.stores import ask
from chalicelib.cursors import decode_cursor, encode_cursor
from chalicelib.database import Document
from chalicelib.errors import (
    CommentChanged,
    CommentDeleted,
    EditWindowOver,
    Forbidden,
    SiteIsFixed,
    UnknownComment,
    UnknownNode,
)
from chalicelib.http import PageQuery
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime

# The other members of a comment: ids, a path of up to 17 of them, a name of 100 characters, times.
_BYTES_BESIDE_TEXT = 3_000
EDIT_WINDOW = timedelta(minutes=15)


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
    rows = ask(runtime, node, lambda store, now: store.page(now, page))
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
    rows = ask(runtime, node, lambda store, now: store.thread(now, root, page))
    return _page(runtime, node, rows, query.limit, scope)


def edit_comment(
    runtime: Runtime, node_id: str, comment_id: str, text: str, caller: Principal
) -> Comment:
    """Give a comment a new text; its author may do so for 15 minutes, a moderator at any time.

    Raises UnknownNode, UnknownComment, CommentDeleted, Forbidden, EditWindowOver,
    CommentTooLarge, and CommentChanged where a moderator's decision came between.
    """
    node, comment = _find_own(runtime, node_id, comment_id, caller)
    late = runtime.now() - comment["posted"] > EDIT_WINDOW
    if late and not moderates(caller, node["site"]):
        raise EditWindowOver
    html = render(text, images=node["site"] in runtime.settings.image_sites)
    fields = {"text": text, "html": html, "renderer": RENDERER, "edited": runtime.now()}
    where = {}
    if node["moderation"] == "before" and not moderates(caller, node["site"]):
        # Or what a moderator has approved could become anything afterwards, and what one has
        # hidden just now would wait again.
        fields["state"], where = "pending", {"state": comment["state"]}
    return _changed(runtime, node, comment_id, fields, where)


def delete_comment(runtime: Runtime, node_id: str, comment_id: str, caller: Principal) -> None:
    """Delete a comment, for its author or a moderator; what was replied to leaves a tombstone.

    Raises UnknownNode, UnknownComment, CommentDeleted and Forbidden.
    """
    node, _ = _find_own(runtime, node_id, comment_id, caller)
    wiped = {"state": "deleted", "author": None, "text": None, "html": None, "edited": None}
    _changed(runtime, node, comment_id, wiped)


def set_state(
    runtime: Runtime, node_id: str, comment_id: str, wanted: StateChange, caller: Principal
) -> Comment:
    """Show, hide or hold a comment back, as a moderator of its site.

    Raises UnknownNode, Forbidden, UnknownComment, CommentDeleted, and CommentChanged where it
    was edited since the moderator has read it.
    """
    node = nodes.find(runtime.database, node_id)
    if not moderates(caller, node["site"]):
        raise Forbidden(f"You do not moderate the site {node['site']}")
    _living(_find(runtime, node, comment_id, caller))
    return _changed(runtime, node, comment_id, {"state": wanted.state}, wanted.seen)


def move_node(runtime: Runtime, node_id: str, store: StoreName, caller: Principal) -> Document:
    """Move a node to another store, as its publisher; see `promotion.request_move`."""
    node = nodes.find(runtime.database, node_id)
    if not caller.owns(node["site"]):
        raise Forbidden(f"The site {node['site']} is not yours")
    return request_move(runtime, node, store)


def _find_own(
    runtime: Runtime, node_id: str, comment_id: str, caller: Principal
) -> tuple[Document, Comment]:
    """Return a comment that the caller wrote or moderates, with its node."""
    node = nodes.find(runtime.database, node_id)
    comment = _living(_find(runtime, node, comment_id, caller))
    own = comment["author"] is not None and comment["author"]["id"] == caller.id
    if not own and not moderates(caller, node["site"]):
        raise Forbidden("The comment is not yours")
    return node, comment


def _living(comment: Comment) -> Comment:
    if comment["state"] in GONE:
        raise CommentDeleted
    return comment


def _changed(
    runtime: Runtime,
    node: Document,
    comment_id: str,
    fields: Mapping[str, Any],
    where: Mapping[str, Any] | None = None,
) -> Comment:
    changed = change_comment(runtime, node, comment_id, fields, where)
    if changed is None and where:
        raise CommentChanged
    if changed is None:
        # Somebody deleted it since it was found.
        raise UnknownComment
    return changed


def _find(runtime: Runtime, node: Document, comment_id: str, caller: Principal | None) -> Comment:
    comment = ask(runtime, node, lambda store, now: store.get(now, comment_id))
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
    """Cut rows to the limit and to what an answer can bear; give the next cursor."""
    answers = [comment_answer(node["_id"], row) for row in rows[:limit]]
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


def _check_manages(caller: Principal, site: str) -> None:
    if not caller.owns(site) and not moderates(caller, site):
        raise Forbidden(f"The site {site} is not yours")
