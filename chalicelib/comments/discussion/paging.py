"""Pages of a node's listing: after a position, before a position, and around a comment."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import NamedTuple

from typing_extensions import TypeIs

from chalicelib.comments import nodes
from chalicelib.comments.discussion.places import place_of, with_places
from chalicelib.comments.entries import ranking
from chalicelib.comments.forms import CommentsQuery
from chalicelib.comments.permissions import Rights
from chalicelib.comments.shapes import Comment, Node, NodeLayout, PageOrder, RankedOrder
from chalicelib.comments.store import Order, Page, Viewer, position
from chalicelib.comments.stores import ask
from chalicelib.comments.stores.documents import DocumentStore
from chalicelib.errors import InvalidCursor
from chalicelib.http import responses
from chalicelib.http.paging import Cursors
from chalicelib.identity import Principal
from chalicelib.instants import milliseconds, moment
from chalicelib.runtime import Runtime

# A comment's other members: ids, a path of up to 17 ids, a name of 100 characters, and times.
_BYTES_BESIDE_TEXT = 3_000

_GUEST = Viewer()
_GUESSED_FOR = timedelta(hours=1)

Read = Callable[[Page], list[Comment]]


class _Guess(NamedTuple):
    """The first page of a guest, in a node of this layout."""

    layout: NodeLayout
    page: Page


class ListingPage(NamedTuple):
    """The comments of a page in their order, and the cursors of its neighbours."""

    comments: list[Comment]
    previous: str | None
    next: str | None


class TimedListing(NamedTuple):
    """A node's listing in one order by time, as a viewer reads it.

    Cursors of previous pages have another scope, since a position has no direction.
    """

    node: Node
    viewer: Viewer
    query: CommentsQuery
    order: Order
    onwards: Cursors
    back: Cursors
    read: Read

    def page(self) -> ListingPage:
        """Return the page of the query's cursor; raises InvalidCursor."""
        try:
            after = self.onwards.position(self.query)
        except InvalidCursor:
            return self._page_before()
        rows = self._rows(after, self.query.limit + 1)
        placed = with_places(self.node, rows, str(after[-1]) if after else None)
        shown = placed[: fitting(placed[: self.query.limit])]
        is_first = after is None or not shown
        return self._page(shown, earlier=not is_first, later=len(shown) < len(placed))

    def around(self, target: Comment) -> ListingPage:
        """Return a page around a comment; up to half of the page comes before it.

        If the answer would be too large, the comments before `target` go to the previous page.
        """
        place, limit = position(self.node, target), self.query.limit
        half = (limit - 1) // 2
        before = self._rows(place, half + 1, backwards=True)
        head = before[:half][::-1]
        room = limit - len(head)
        rows = [*head, target, *self._rows(place, room)]
        placed = with_places(self.node, rows, _path_of(before[half:]))
        at = placed.index(target)
        # The places above the comment may have pushed it off the page.
        start = max(0, at + 1 - limit)
        if fitting(placed[start : start + limit]) < len(placed[start : start + limit]):
            start = at
        shown = placed[start:][: fitting(placed[start : start + limit])]
        earlier = len(before) > half or start > 0
        return self._page(shown, earlier=earlier, later=start + len(shown) < len(placed))

    def _page_before(self) -> ListingPage:
        limit, end = self.query.limit, self.back.position(self.query)
        rows = self._rows(end, limit + 1, backwards=True)
        placed = rows[:limit][::-1]
        if self.node["threaded"] and end is not None:
            # The comment at the end may have had no room for the places above it.
            placed = [*placed, place_of(str(end[-1]))]
            placed = with_places(self.node, placed, _path_of(rows[limit:]))[:-1]
        nearest = placed[::-1][:limit]
        shown = nearest[: fitting(nearest)][::-1]
        earlier = len(rows) > limit or len(shown) < len(placed)
        return self._page(shown, earlier=earlier, later=bool(shown))

    def _rows(
        self, after: tuple[object, ...] | None, limit: int, *, backwards: bool = False
    ) -> list[Comment]:
        return self.read(Page(self.order, limit, after, self.viewer, backwards))

    def _page(self, comments: list[Comment], *, earlier: bool, later: bool) -> ListingPage:
        first = position(self.node, comments[0]) if earlier else None
        last = position(self.node, comments[-1]) if later else None
        return ListingPage(comments, self.back.following(first), self.onwards.following(last))


def open_node(
    runtime: Runtime, node_id: str, query: CommentsQuery, caller: Principal | None, *, is_new: bool
) -> tuple[Node, Read]:
    """Return a node as `nodes.find_for`, and a function that reads its pages.

    `is_new`: the caller holds no copy of the page. Then, for a guest, one round trip reads the node
    and, by a guess, the first page. A node with another layout or order takes a second trip.
    """
    guess = _guess(runtime, node_id, query) if is_new and caller is None else None
    if guess is None:
        found, ahead = nodes.look(runtime.database, node_id), None
    else:
        found, ahead = DocumentStore(runtime.database).first_page(*guess)
    node = nodes.shown_to(runtime, found, caller)
    layout = _layout(node, node_id)

    def read(page: Page) -> list[Comment]:
        if ahead is not None and guess == (layout, page):
            return ahead
        if page.viewer == _GUEST and page.after is None and node["store"] == "documents":
            right = _Guess(layout, page)
            runtime.memory.keep(_key(node_id, query), runtime.now(), _GUESSED_FOR, right)
        return ask(runtime, node, lambda store, current: store.page(current, page))

    return node, read


def _guess(runtime: Runtime, node_id: str, query: CommentsQuery) -> _Guess | None:
    """Return a guest's first page in the layout remembered under `_key`; None: no guess.

    Most nodes of a site have one store and one order, and few have been moved.
    """
    last: _Guess | None = runtime.memory.look(_key(node_id, query), runtime.now())
    if last is None or query.cursor is not None or query.around is not None:
        return None
    page = Page(last.page.order, query.limit + 1, None, _GUEST)
    return _Guess(_layout(last.layout, node_id), page)


def _layout(node: NodeLayout, node_id: str) -> NodeLayout:
    """Return the layout of a node, with this id in place of its own."""
    return {
        "_id": node_id,
        "store": node["store"],
        "generation": node["generation"],
        "threaded": node["threaded"],
    }


def _key(node_id: str, query: CommentsQuery) -> str:
    """Return the memory's key of a guess: the node's id up to its last colon, and the order."""
    return f"comments.guess {node_id.rpartition(':')[0]} {query.order}"


def _path_of(rows: Sequence[Comment]) -> str | None:
    """Return the path of the first of these comments; None without any."""
    return rows[0]["full_slug"] if rows else None


def order_of(query: CommentsQuery, rights: Rights) -> PageOrder:
    """Return the order of a page; the page around a comment is always in an order by time."""
    order = query.order or rights.settings["order"]
    return "oldest" if query.around is not None and not is_timed(order) else order


def is_ranked(order: PageOrder) -> TypeIs[RankedOrder]:
    """Return whether an order is by votes."""
    return order in {"best", "top", "controversial"}


def is_timed(order: PageOrder) -> TypeIs[Order]:
    """Return whether an order is by the time of posting."""
    return order in {"oldest", "newest"}


def listing_of(
    runtime: Runtime, node: Node, rights: Rights, query: CommentsQuery, read: Read
) -> TimedListing:
    """Return the listing of a node for a query in an order by time."""
    order = order_of(query, rights)
    assert is_timed(order)  # noqa: S101 - the caller lists other orders elsewhere
    scope = f"{node['_id']}:{order}:{node['threaded']}{numbers_of(node)}"
    keys = runtime.settings.signing_keys
    onwards, back = Cursors(f"comments:{scope}", keys), Cursors(f"comments before:{scope}", keys)
    return TimedListing(node, rights.viewer, query, order, onwards, back, read)


def numbers_of(node: Node) -> str:
    """Return a suffix of a cursor's scope: an import renumbers comments, and so ends cursors."""
    return f":{node['numbering']}" if node.get("numbering") else ""


def fitting(rows: Sequence[Comment]) -> int:
    """Return the number of comments, from the first, that fit into an answer."""
    characters = sum(len(row["text"] or "") + len(row["html"] or "") for row in rows)
    beside = _BYTES_BESIDE_TEXT * len(rows)
    if responses.BYTES_A_CHARACTER * characters + beside <= responses.MAX_BYTES:
        return len(rows)
    return responses.fitting(rows)


# The cursor of featured comments holds time and number by value. A reader who pages on misses a
# newly featured comment until they reload the list; all other comments come once.


def featured_page(runtime: Runtime, node: Node, query: CommentsQuery) -> ListingPage:
    """Return a page of the visible featured comments; raises InvalidCursor."""
    scope = f"featured comments:{node['_id']}{numbers_of(node)}"
    cursors = Cursors(scope, runtime.settings.signing_keys)
    position = cursors.position(query)
    after = (moment(position[0]), position[1]) if position else None
    rows = ranking.featured_comments(runtime.database, node, after, query.limit + 1)
    listed = rows[: query.limit]
    if not listed:
        return ListingPage([], None, None)
    ids = [row.id for row in listed]
    read = ask(runtime, node, lambda store, now: store.get_many(now, ids))
    found = {each["id"]: each for each in read if each["state"] == "visible"}
    comments = [found[id_] for id_ in ids if id_ in found]
    shown = comments[: fitting(comments)]
    if len(shown) < len(comments):
        listed = listed[: ids.index(shown[-1]["id"]) + 1]
    last = listed[-1] if len(listed) < len(rows) else None
    place = [milliseconds(last.since), last.seq] if last else None
    return ListingPage(shown, None, cursors.following(place))
