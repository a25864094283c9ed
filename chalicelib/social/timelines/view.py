"""The designs of walls and news: what all of them do, and what those that store copies do."""

from collections.abc import Sequence
from typing import Literal, Protocol

from chalicelib.people.follows import Trace
from chalicelib.social.graph.audience import CompleteSince
from chalicelib.social.paging import Entry, Position
from chalicelib.social.posts.shapes import PostBody, ShownPost

WallDesign = Literal["copies", "posts"]
NewsDesign = Literal["references", "copies", "pull"]


class View(Protocol):
    """Where the posts of many users' walls, or news, are found.

    A view holds what may be shown: who may see it is checked at reading.
    """

    def newest(
        self, user_id: str, after: Position | None, count: int
    ) -> Sequence[Entry[ShownPost]]:
        """Return what follows a position, newest first: fewer than `count` only at the end."""
        ...


class NewsView(View, Protocol):
    """The news, and what was sent to a user among them."""

    def sent(self, user_id: str, after: Position | None, count: int) -> Sequence[Entry[ShownPost]]:
        """Return what was perhaps sent to a user, in the same way."""
        ...


class StoredView(View, Protocol):
    """A view with documents of its own, which must be kept equal to the posts.

    Adding, changing or removing something twice is the same as doing so once.
    """

    def add(self, posts: Sequence[PostBody], user_ids: Sequence[str]) -> None:
        """Give each user each post, read with its last comments.

        Raises NotInserted or another failure after adding to all others.
        """
        ...

    def refresh(self, post: PostBody) -> None:
        """Make every copy of a post equal to it, unless the copy is newer."""
        ...

    def remove(self, post_id: str) -> None:
        """Remove a post from every user."""
        ...

    def take(self, post_ids: Sequence[str], user_id: str) -> None:
        """Remove posts from one user."""
        ...

    def erase(self, user_id: str) -> None:
        """Delete everything that a user has here."""
        ...

    def trace(self, user_id: str) -> Trace:
        """Return where the documents are that a user has here."""
        ...


class StoredNews(NewsView, StoredView, Protocol):
    """News with documents of their own."""

    def kept_since(self, user_id: str, keep: int) -> CompleteSince:
        """Return instants from which on a user has at least `keep` posts, `sent` ones too.

        An instant before every post: there are no more.
        """
        ...

    def discard(self, user_id: str, since: CompleteSince) -> None:
        """Delete a user's posts before instants, which are not read from here any more."""
        ...
