"""Pages of a node, threads and single comments, each as the caller may see it."""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from chalicelib.comments import nodes
from chalicelib.comments.answers import (
    CommentAnswer,
    CommentsAnswer,
    ThreadAnswer,
    comment_answer,
    discussion_answer,
    viewer_answer,
)
from chalicelib.comments.discussion import paging, pinned, places, ranked
from chalicelib.comments.discussion.paging import (
    ListingPage,
    Read,
    fitting,
    is_ranked,
    listing_of,
    numbers_of,
    order_of,
)
from chalicelib.comments.discussion.tags import (
    NOTHING_HELD,
    Held,
    Listing,
    Tags,
    tags_of,
    version_of,
)
from chalicelib.comments.entries import marked, shadows
from chalicelib.comments.forms import CommentsQuery
from chalicelib.comments.mark_answers import Marks, is_marked, page_marks
from chalicelib.comments.people.blocking import blocked_by
from chalicelib.comments.permissions import NOTHING_OWN, Own, Rights, viewer
from chalicelib.comments.shapes import Comment, CommentPlace, Node, PlacedComment
from chalicelib.comments.sites import settings
from chalicelib.comments.store import Page, position
from chalicelib.comments.stores import ask
from chalicelib.errors import UnknownComment
from chalicelib.http import PageQuery
from chalicelib.http.paging import Cursors
from chalicelib.identity import Principal
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import moderates


def list_comments(
    runtime: Runtime,
    node_id: str,
    query: CommentsQuery,
    caller: Principal | None,
    held: Held = NOTHING_HELD,
) -> Listing[CommentsAnswer]:
    """Return a page of a node's comments, without a body if the caller holds its tag.

    Raises UnknownNode, InvalidCursor, and UnknownComment for the comment of `around`.
    """
    node, read_page = paging.open_node(runtime, node_id, query, caller, is_new=not held.tags)
    rights = _reading_rights(runtime, node, caller)
    order = order_of(query, rights)
    tags = _tags(runtime, node, f"comments {held.form}", query, rights)
    is_counted = is_ranked(order) or is_marked(rights.settings)
    if not is_counted and (tag := tags.current(held.tags, runtime.now())):
        return Listing(tag, None)
    shown = _listing_page(runtime, node, rights, query, read_page)
    # A reader who pages on has the comments above.
    is_alone = query.around is not None or held.form != NOTHING_HELD.form
    above_first = places.above(node, shown.comments) if is_alone else []
    ancestors, comments = places.fill_both(runtime, node, rights, above_first, shown.comments)
    own = _waiting(runtime, node, rights, query)
    above = rights.without_blocked_authors(pinned.pinned_comments(runtime, node, query, comments))
    own, ancestors, above = _fit_beside(comments, own, ancestors, above)
    read = _look_beside(runtime, node, [*comments, *ancestors, *above, *own], rights)
    body: CommentsAnswer = {
        **_page(node, comments, rights, read, shown.next),
        "previous": shown.previous,
        "order": order,
        "waiting": _answers(node, own, rights, read),
        "pinned": _answers(node, above, rights, read),
        "ancestors": _answers(node, ancestors, rights, read),
        "count": node["counts"]["visible"] + rights.unseen,
        "page": page_marks(marked.PAGE, read.marks, rights),
    }
    answered = chain(body["comments"], body["ancestors"], body["waiting"], body["pinned"])
    tag = tags.of([*answered], body["page"], body["next"], counted=is_counted)
    return Listing(tag, None if tag in held.tags else body)


def _tags(runtime: Runtime, node: Node, listing: str, query: PageQuery, rights: Rights) -> Tags:
    return tags_of(node, listing, query, rights, runtime.settings.signing_keys)


def _waiting(runtime: Runtime, node: Node, rights: Rights, query: CommentsQuery) -> list[Comment]:
    """Return the caller's own comments without a rank, beside a first page by rank."""
    if query.cursor is not None or not is_ranked(order_of(query, rights)):
        return []
    return ranked.waiting_comments(runtime, node, rights)


def _listing_page(
    runtime: Runtime, node: Node, rights: Rights, query: CommentsQuery, read_page: Read
) -> ListingPage:
    """Return the comments of a page in its order."""
    order = order_of(query, rights)
    if order == "featured":
        return paging.featured_page(runtime, node, query)
    if is_ranked(order):
        return ranked.page(runtime, node, rights, query, order)
    listing = listing_of(runtime, node, rights, query, read_page)
    if query.around is None:
        return listing.page()
    return listing.around(find(runtime, node, query.around, rights.caller))


def _fit_beside(shown: Sequence[Comment], *beside: list[Comment]) -> list[list[Comment]]:
    """Return the part of each list that fits into one answer beside a page and the lists before."""
    if not any(beside):
        return list(beside)
    room = fitting([*shown, *chain.from_iterable(beside)]) - len(shown)
    fit: list[list[Comment]] = []
    for each in beside:
        fit.append(each[: max(0, room)])
        room -= len(each)
    return fit


def get_comment(
    runtime: Runtime, node_id: str, comment_id: str, caller: Principal | None
) -> PlacedComment:
    """Return a comment that the caller may see; raises UnknownNode and UnknownComment."""
    node = nodes.find_for(runtime, node_id, caller)
    return PlacedComment(node, find(runtime, node, comment_id, caller))


def list_thread(
    runtime: Runtime,
    place: CommentPlace,
    query: PageQuery,
    caller: Principal | None,
    held: Sequence[str] = (),
) -> Listing[ThreadAnswer]:
    """Return a page of a comment and its descendants, depth-first, as `list_comments`."""
    node_id, comment_id = place
    node = nodes.find_for(runtime, node_id, caller)
    rights = _reading_rights(runtime, node, caller)
    tags = _tags(runtime, node, comment_id, query, rights)
    is_counted = is_marked(rights.settings)
    if not is_counted and (tag := tags.current(held, runtime.now())):
        return Listing(tag, None)
    root = find(runtime, node, comment_id, caller)
    scope = f"thread:{node_id}:{comment_id}{numbers_of(node)}"
    cursors = Cursors(scope, runtime.settings.signing_keys)
    page = Page("oldest", query.limit + 1, cursors.position(query), rights.viewer)
    rows = _thread(runtime, node, root, page)
    before = str(page.after[-1]) if page.after else None
    placed = places.with_places(node, rows, before, root["depth"])
    shown = placed[: fitting(placed[: query.limit])]
    last = position(node, shown[-1]) if len(shown) < len(placed) else None
    shown = places.fill(runtime, node, rights, shown)
    read = _look_beside(runtime, node, shown, rights)
    body = _page(node, shown, rights, read, cursors.following(last))
    tag = tags.of(body["comments"], counted=is_counted)
    return Listing(tag, None if tag in held else body)


def _thread(runtime: Runtime, node: Node, root: Comment, page: Page) -> list[Comment]:
    """Return a comment and its descendants; a flat discussion has none."""
    if not node["threaded"]:
        return [] if page.after else [root]
    return ask(runtime, node, lambda store, now: store.thread(now, root["full_slug"], page))


def rights_in(runtime: Runtime, node: Node, caller: Principal | None) -> Rights:
    """Return the rights of a caller in a node now, with their own part of it."""
    return Rights(
        caller, node, settings.in_force(runtime, node), runtime.now(), own_in(runtime, node, caller)
    )


def own_in(runtime: Runtime, node: Node, caller: Principal | None) -> Own:
    """Return the caller's own part of a node; moderators see all, and have none."""
    if caller is None or moderates(caller, node["site"]):
        return NOTHING_OWN
    return shadows.of_node(runtime, node, caller.id)


def count_comments(
    runtime: Runtime, node_ids: Sequence[str], caller: Principal | None
) -> dict[str, int]:
    """Return the number of comments that the caller sees as visible in each node.

    0 for an unknown node.
    """
    now, every = runtime.now(), nodes.find_counts(runtime.database, node_ids)
    found = {id_: node for id_, node in every.items() if nodes.is_visible(node, caller, now)}
    seen = [node for node in found.values() if caller and not moderates(caller, node["site"])]
    own = shadows.read_own(runtime, seen, caller.id) if caller else {}
    counts = dict.fromkeys(node_ids, 0)
    for node_id, node in found.items():
        unseen = own[node["_id"]].shadows.get("visible", 0) if node["_id"] in own else 0
        counts[node_id] = node["counts"]["visible"] + unseen
    return counts


def read_versions(
    runtime: Runtime, node_ids: Sequence[str], caller: Principal | None
) -> dict[str, str]:
    """Return the versions of the nodes among these that the caller sees, by the given ids."""
    now, found = runtime.now(), nodes.find_counts(runtime.database, node_ids)
    return {
        id_: version_of(node, caller)
        for id_, node in found.items()
        if "vacant" not in node and nodes.is_visible(node, caller, now)
    }


def _reading_rights(runtime: Runtime, node: Node, caller: Principal | None) -> Rights:
    """Return the rights for a listing: `rights_in`, with the people whom the caller blocks."""
    own = own_in(runtime, node, caller)
    if caller is not None and not moderates(caller, node["site"]):
        own = own._replace(blocked=blocked_by(runtime, node["site"], caller.id))
    return Rights(caller, node, settings.in_force(runtime, node), runtime.now(), own)


def placed_comment(
    runtime: Runtime, placed: PlacedComment, caller: Principal | None
) -> CommentAnswer:
    """Return the answer of a single comment for a caller."""
    node, comment = placed
    rights = rights_in(runtime, node, caller)
    read = _look_beside(runtime, node, [comment], rights)
    return comment_answer(node["_id"], comment, rights, read.marks, read.answered)


def find(runtime: Runtime, node: Node, comment_id: str, caller: Principal | None) -> Comment:
    """Return a comment that the caller may see; raises UnknownComment."""
    comment = ask(runtime, node, lambda store, current: store.get(current, comment_id))
    if comment is None or not viewer(caller, node["site"]).sees(comment):
        raise UnknownComment
    return comment


class _Beside(NamedTuple):
    """The marks of comments and of their page, and the comments that their `reply_to` names.

    marks: None if readers neither vote nor react.
    """

    marks: Marks | None
    answered: Mapping[str, Comment]


def _look_beside(
    runtime: Runtime, node: Node, comments: Sequence[Comment], rights: Rights
) -> _Beside:
    answered = places.read_answered(runtime, node, rights, comments)
    return _Beside(_marks(runtime, node, comments, rights), answered)


def _marks(
    runtime: Runtime, node: Node, comments: Sequence[Comment], rights: Rights
) -> Marks | None:
    """Return the marks of comments and of their page; None if readers neither vote nor react."""
    if not is_marked(rights.settings):
        return None
    ids = chain([marked.PAGE], (each["id"] for each in comments))
    user_id = rights.caller.id if rights.caller else None
    return marked.read(runtime.database, node, ids, user_id)


def _page(
    node: Node, rows: list[Comment], rights: Rights, read: _Beside, following: str | None
) -> ThreadAnswer:
    """Return a page with these comments, as the caller may see them."""
    return {
        "node": discussion_answer(node, rights),
        "viewer": viewer_answer(rights),
        "comments": _answers(node, rows, rights, read),
        "next": following,
        "version": version_of(node, rights.caller),
    }


def _answers(node: Node, rows: list[Comment], rights: Rights, read: _Beside) -> list[CommentAnswer]:
    """Return comments as the API shows them to the caller."""
    marks, answered = read
    return [comment_answer(node["_id"], row, rights, marks, answered) for row in rows]
