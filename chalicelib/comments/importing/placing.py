"""Place the comments of a merged discussion: new numbers, paths and, for new comments, HTML."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from chalicelib.comments.errors import CommentTooLarge
from chalicelib.comments.importing.ordering import BATCH, MergedComment
from chalicelib.comments.importing.rows import StagedComment
from chalicelib.comments.mentions import Mentions
from chalicelib.comments.rendered import RENDERER, plain_html, render_text
from chalicelib.comments.shapes import Comment, Node, State
from chalicelib.comments.store import CONCEALED, GONE, segment
from chalicelib.runtime import Runtime


class CommentPath(NamedTuple):
    """A comment's path of ids, and its path of sortable segments."""

    slug: str
    full_slug: str


# Returns the paths of loaded comments with these ids, by id.
FindPlaces = Callable[[Sequence[str]], Mapping[str, CommentPath]]


class Placing:
    """Gives the comments of a merged discussion their numbers from 1 on, and their paths."""

    def __init__(self, runtime: Runtime, node: Node, find_places: FindPlaces) -> None:
        self._runtime = runtime
        self._node = node
        self._find_places = find_places
        self.last_seq = 0

    def batches(self, merged: Iterable[MergedComment]) -> Iterator[list[Comment]]:
        """Yield the comments in batches; the caller loads each before it asks for the next."""
        turns = iter(merged)
        while batch := list(itertools.islice(turns, BATCH)):
            yield self._place(batch)

    def _place(self, batch: Sequence[MergedComment]) -> list[Comment]:
        own = {_id_of(each) for each in batch}
        above = {each.parent for each in batch if each.parent} - own
        places = dict(self._find_places(sorted(above))) if above else {}
        comments: list[Comment] = []
        for placed in batch:
            self.last_seq += 1
            comment = self._comment(placed, places)
            places[comment["id"]] = CommentPath(comment["slug"], comment["full_slug"])
            comments.append(comment)
        return comments

    def _comment(self, placed: MergedComment, places: Mapping[str, CommentPath]) -> Comment:
        if placed.living is not None:
            return self._living(placed.living, places)
        row = placed.staged
        assert row is not None  # noqa: S101 - it is one of both
        parent = places[placed.parent] if placed.parent else None
        # As for a post: a reply below the deepest level becomes a sibling of its parent.
        depth = self._node["max_depth"]
        ids = parent.slug.split("/")[:depth] if parent else []
        segments = parent.full_slug.split("/")[:depth] if parent else []
        posted, comment_id = row["posted"], row["id"]
        mentions = Mentions(row.get("mentions", []))
        comment = Comment(
            id=comment_id,
            seq=self.last_seq,
            parent_id=ids[-1] if ids else None,
            slug="/".join([*ids, comment_id]),
            full_slug="/".join([*segments, segment(posted, self.last_seq, comment_id)]),
            depth=len(ids),
            posted=posted,
            edited=row["edited"],
            author=row["author"],
            text=row["text"],
            html=None if row["text"] is None else self._html(row["text"], mentions),
            renderer=RENDERER,
            state=_state(row["state"]),
            reply_count=0,
        )
        if placed.parent and placed.parent != comment["parent_id"]:
            comment["reply_to"] = placed.parent
        if mentions.people:
            comment["mentions"] = mentions.people
        return _with_reasons(comment, row, self._runtime)

    def _living(self, comment: Comment, places: Mapping[str, CommentPath]) -> Comment:
        own = segment(comment["posted"], self.last_seq, comment["id"])
        above = [places[comment["parent_id"]].full_slug] if comment["parent_id"] else []
        return {
            **comment,
            "seq": self.last_seq,
            "full_slug": "/".join([*above, own]),
        }

    def _html(self, text: str, mentions: Mentions) -> str:
        try:
            return render_text(self._runtime, self._node["site"], text, mentions, is_new=False)
        except CommentTooLarge:
            return plain_html(text)


def _id_of(placed: MergedComment) -> str:
    each = placed.living or placed.staged
    assert each is not None  # noqa: S101 - it is one of both
    return each["id"]


def _state(state: State) -> State:
    """Return a new comment's state; the store turns `removed` into a tombstone if replies come."""
    return "removed" if state == "deleted" else state


def _with_reasons(comment: Comment, row: StagedComment, runtime: Runtime) -> Comment:
    """Add `reasons`, `shadow` and `spam_since` to a comment if they apply, and return it."""
    if row["reasons"] and comment["state"] not in GONE:
        comment["reasons"] = row["reasons"]
    if "shadow" in row and comment["state"] in CONCEALED:
        comment["shadow"] = row["shadow"]
    if comment["state"] == "spam":
        # This begins now: with the file's time, Plaza might wipe the comment at once.
        comment["spam_since"] = runtime.now()
    return comment
