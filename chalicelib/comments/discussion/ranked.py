"""Pages of a discussion by rank: threads by a key of their roots, each thread in its own order.

A page reads the entries of roots by (key, seq), then their threads from the store, which knows no
ranks. The cursor holds the key and the number by value. If a page ended within a thread, it also
holds the path of the last comment. Votes between two pages neither repeat nor skip a thread with
an unchanged key. A thread that rose past the cursor is missing until the reader reloads the list;
a thread that fell past it comes again.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from chalicelib.comments.discussion.paging import ListingPage, fitting, numbers_of
from chalicelib.comments.discussion.places import with_places
from chalicelib.comments.entries import ranking
from chalicelib.comments.entries.ranking import RankedRoot
from chalicelib.comments.forms import CommentsQuery
from chalicelib.comments.permissions import Rights
from chalicelib.comments.shapes import Comment, Node, RankedOrder
from chalicelib.comments.store import Page, Root, root_seq, segment
from chalicelib.comments.stores import ask
from chalicelib.http.paging import Cursors
from chalicelib.runtime import Runtime


class _Place(NamedTuple):
    """A root by its key and number.

    full_slug: the path of the last comment on the page; None: the page does not cut the thread.
    """

    key: int
    seq: int
    full_slug: str | None


class _Read(NamedTuple):
    """Comments in the order of the listing, the places of their roots, and whether more follow."""

    comments: list[Comment]
    places: dict[int, _Place]
    last: _Place | None
    has_more: bool


def page(
    runtime: Runtime, node: Node, rights: Rights, query: CommentsQuery, order: RankedOrder
) -> ListingPage:
    """Return a page by rank; raises InvalidCursor."""
    scope = f"ranked comments:{node['_id']}:{order}{numbers_of(node)}"
    cursors = Cursors(scope, runtime.settings.signing_keys)
    position = cursors.position(query)
    after = None if position is None else _Place(*position)
    listing = _Listing(runtime, node, rights, query.limit)
    read = listing.read(order, after)
    placed = with_places(node, read.comments, after.full_slug if after else None)
    read = read._replace(comments=placed)
    shown = placed[: fitting(placed[: query.limit])]
    return ListingPage(shown, None, cursors.following(_following(read, shown)))


def waiting_comments(runtime: Runtime, node: Node, rights: Rights) -> list[Comment]:
    """Return the caller's own waiting roots, unranked, as the caller sees them."""
    caller = rights.caller
    if caller is None or rights.viewer.moderator:
        return []
    if not node["counts"]["pending"] and not rights.viewer.shadowed:
        return []
    roots = ranking.waiting_roots(runtime.database, node, caller.id)
    if not roots:
        return []
    found = ask(runtime, node, lambda store, now: store.gather(now, roots, rights.viewer))
    return [comment for comment in found if comment["depth"] == 0]


class _Listing(NamedTuple):
    """A node's listing by rank for one caller; `limit`: comments of a page."""

    runtime: Runtime
    node: Node
    rights: Rights
    limit: int

    def read(self, order: RankedOrder, after: _Place | None) -> _Read:
        """Return the comments of a page from a place on, and perhaps more."""
        comments = self._rest(after) if after and after.full_slug else []
        room = self.limit - len(comments)
        places = {after.seq: after} if after else {}
        if room < 0:
            return _Read(comments, places, after, has_more=True)
        beyond = (after.key, after.seq) if after else None
        page = ranking.RootsPage(self.node, order, beyond, room + 1)
        roots = self._numbered(ranking.roots(self.runtime.database, page, self._own()))
        whole, cut = _choose(roots, len(comments), self.limit)
        comments += self._threads(whole)
        if cut is not None:
            comments += self._thread(cut, max(1, self.limit + 1 - len(comments)))
        chosen = [*whole, *([cut] if cut else [])]
        places |= {root.seq: _Place(root.key, root.seq, None) for root in chosen}
        last = places[chosen[-1].seq] if chosen else after
        return _Read(comments, places, last, has_more=len(roots) > len(chosen))

    def _numbered(self, roots: list[RankedRoot]) -> list[RankedRoot]:
        """Return roots with their comments' numbers; an import gives these to entries late."""
        if not roots or "imported" not in self.node:
            return roots
        ids = [root.id for root in roots]
        found = ask(self.runtime, self.node, lambda store, now: store.get_many(now, ids))
        seqs = {comment["id"]: comment["seq"] for comment in found}
        return [root._replace(seq=seqs.get(root.id, root.seq)) for root in roots]

    def _own(self) -> ranking.OwnRoots | None:
        """Return the part of the ranking that differs for the caller; None for most callers."""
        caller, rights = self.rights.caller, self.rights
        if caller is None or not (rights.unseen or rights.own_votes):
            return None
        return ranking.OwnRoots(caller.id, rights.own_votes)

    def _rest(self, after: _Place) -> list[Comment]:
        """Return the rest of the thread in which the last page ended."""
        assert after.full_slug is not None  # noqa: S101 - asked for by the caller
        path = after.full_slug.partition("/")[0]
        return self._part(path, self.limit + 1, (after.seq, after.full_slug))

    def _thread(self, root: RankedRoot, limit: int) -> list[Comment]:
        return self._part(segment(root.posted, root.seq, root.id), limit, None)

    def _part(self, path: str, limit: int, after: tuple[Any, ...] | None) -> list[Comment]:
        part = Page("oldest", limit, after, self.rights.viewer)
        return ask(self.runtime, self.node, lambda store, now: store.thread(now, path, part))

    def _threads(self, roots: Sequence[RankedRoot]) -> list[Comment]:
        if not roots:
            return []
        named = [Root(root.id, root.seq) for root in roots]
        viewer = self.rights.viewer
        return ask(self.runtime, self.node, lambda store, now: store.gather(now, named, viewer))


def _choose(
    roots: Sequence[RankedRoot], had: int, limit: int
) -> tuple[list[RankedRoot], RankedRoot | None]:
    """Return the roots of threads that fit on a page with `had` comments, and a root to cut.

    Only a page that would stay under half full cuts a thread. The sizes of threads are hints.
    """
    whole: list[RankedRoot] = []
    for root in roots:
        if had + root.thread > limit:
            return whole, root if 2 * had < limit else None
        whole.append(root)
        had += root.thread
    return whole, None


def _following(read: _Read, shown: Sequence[Comment]) -> _Place | None:
    """Return the place after the comments of the page; None if nothing follows."""
    if len(shown) == len(read.comments):
        return read.last._replace(full_slug=None) if read.last and read.has_more else None
    seq, next_seq = (_root_seq(each) for each in read.comments[len(shown) - 1 :][:2])
    is_within = seq == next_seq
    return read.places[seq]._replace(full_slug=shown[-1]["full_slug"] if is_within else None)


def _root_seq(comment: Comment) -> int:
    return root_seq(comment["full_slug"])
