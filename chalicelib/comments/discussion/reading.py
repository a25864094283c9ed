"""Reading comments: pages of a node, threads and single comments, as the caller may see them."""

from chalicelib.comments import nodes
from chalicelib.comments.answers import CommentsAnswer, ThreadAnswer, comment_answer
from chalicelib.comments.models import CommentsQuery
from chalicelib.comments.order import position
from chalicelib.comments.permissions import viewer
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.store import Page
from chalicelib.comments.stores import ask
from chalicelib.errors import UnknownComment
from chalicelib.http import PageQuery, payloads
from chalicelib.http.pages import Cursors
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime

# The other members of a comment: ids, a path of up to 17 of them, a name of 100 characters, times.
_BYTES_BESIDE_TEXT = 3_000


def list_comments(
    runtime: Runtime, node_id: str, query: CommentsQuery, caller: Principal | None
) -> CommentsAnswer:
    """Return a page of a node's comments; raises UnknownNode and InvalidCursor."""
    node = nodes.find(runtime.database, node_id)
    scope = f"comments:{node_id}:{query.order}:{node['threaded']}"
    cursors = Cursors(scope, runtime.settings.signing_keys)
    page = Page(query.order, query.limit + 1, cursors.position(query), viewer(caller, node["site"]))
    rows = ask(runtime, node, lambda store, current: store.page(current, page))
    shown = _page(node, rows, page, cursors)
    return {
        "comments": shown["comments"],
        "next": shown["next"],
        "count": node["counts"]["visible"],
    }


def get_comment(
    runtime: Runtime, node_id: str, comment_id: str, caller: Principal | None
) -> Comment:
    """Return a comment that the caller may see; raises UnknownNode and UnknownComment."""
    node = nodes.find(runtime.database, node_id)
    found = find(runtime, node, comment_id, caller)
    return viewer(caller, node["site"]).shown(found)


def list_thread(
    runtime: Runtime, node_id: str, comment_id: str, query: PageQuery, caller: Principal | None
) -> ThreadAnswer:
    """Return a page of a comment and its descendants, depth-first: `{comments, next}`."""
    node = nodes.find(runtime.database, node_id)
    root = find(runtime, node, comment_id, caller)
    cursors = Cursors(f"thread:{node_id}:{comment_id}", runtime.settings.signing_keys)
    page = Page("oldest", query.limit + 1, cursors.position(query), viewer(caller, node["site"]))
    rows = ask(runtime, node, lambda store, current: store.thread(current, root, page))
    return _page(node, rows, page, cursors)


def is_author(caller: Principal, comment: Comment) -> bool:
    """Return whether the caller wrote the comment."""
    return comment["author"] is not None and comment["author"]["id"] == caller.id


def find(runtime: Runtime, node: Node, comment_id: str, caller: Principal | None) -> Comment:
    """Return a comment that the caller may see; raises UnknownComment."""
    comment = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    if comment is None or not viewer(caller, node["site"]).sees(comment):
        raise UnknownComment
    return comment


def _page(node: Node, rows: list[Comment], page: Page, cursors: Cursors) -> ThreadAnswer:
    """Return the rows that the limit and an answer's size allow, and the cursor after them."""
    shown_to = page.viewer.shown
    answers = [comment_answer(node["_id"], shown_to(row)) for row in rows[: page.limit - 1]]
    shown = answers if _are_short(rows) else answers[: payloads.fitting(answers)]
    last = position(node, rows[len(shown) - 1]) if len(shown) < len(rows) else None
    return {"comments": shown, "next": cursors.following(last)}


def _are_short(rows: list[Comment]) -> bool:
    """Return whether the rows fit into an answer by their texts alone, as most pages do."""
    characters = sum(len(row["text"] or "") + len(row["html"] or "") for row in rows)
    beside = _BYTES_BESIDE_TEXT * len(rows)
    return payloads.BYTES_A_CHARACTER * characters + beside <= payloads.MAX_BYTES
