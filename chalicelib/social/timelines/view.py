"""The contracts of the designs of walls and news: of all, and of designs that store copies."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol

from chalicelib.database import Document
from chalicelib.people.follows import Trace
from chalicelib.social.graph.audience import CompleteSince
from chalicelib.social.paging import ListEntry, ListPosition
from chalicelib.social.posts.shapes import PostBody, ShownPost

NewsDesign = Literal["references", "copies", "pull"]
# The two views of stored news.
Part = Literal["news", "sent"]
# A user keeps at most so many times the news that a trim keeps, posts by strangers included.
KEPT_WITH_STRANGERS = 4


class View(Protocol):
    """The posts of many users' walls or news.

    A view holds candidates: the reading page checks the permission to see each.
    """

    def newest(
        self, user_id: str, after: ListPosition | None, count: int
    ) -> Sequence[ListEntry[ShownPost]]:
        """Return the entries after a position, newest first: fewer than `count` only at the end."""
        ...


class NewsView(View, Protocol):
    """The news, and the posts sent to a user among them."""

    def newest_sent(
        self, user_id: str, after: ListPosition | None, count: int
    ) -> Sequence[ListEntry[ShownPost]]:
        """Return the posts perhaps sent to a user, in the same way."""
        ...


class StoredView(View, Protocol):
    """A view with documents of its own, which must stay equal to the posts.

    A second addition, change or removal changes nothing.
    """

    def add(self, posts: Sequence[PostBody], user_ids: Sequence[str]) -> None:
        """Add each post, read with its last comments, to each user; make older copies equal to it.

        Raises NotInserted or another failure after all other additions.
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

    def erase(self, user_id: str, until: datetime | None = None) -> None:
        """Delete everything that a user has here; with `until`, only posts up to then."""
        ...

    def trace(self, user_id: str) -> Trace:
        """Return the collection and filter of a user's documents here."""
        ...


class StoredNews(NewsView, StoredView, Protocol):
    """News with documents of their own.

    `begun`: the rows of a `beginning` of the same part, position and count, if they are read.
    """

    def beginning(
        self, user_id: str, part: Part, after: ListPosition | None, count: int
    ) -> Document:
        """Return the `$lookup` of the first rows after a position, for a user's own document."""
        ...

    def newest(
        self,
        user_id: str,
        after: ListPosition | None,
        count: int,
        begun: Sequence[Document] | None = None,
    ) -> Sequence[ListEntry[ShownPost]]:
        """Return the entries after a position, as of `View`."""
        ...

    def newest_sent(
        self,
        user_id: str,
        after: ListPosition | None,
        count: int,
        begun: Sequence[Document] | None = None,
    ) -> Sequence[ListEntry[ShownPost]]:
        """Return the posts perhaps sent to a user, in the same way."""
        ...

    def kept_since(self, user_id: str, keep: int, followed: Sequence[str]) -> CompleteSince:
        """Return instants since when a user has at least `keep` posts, and as many sent posts.

        An instant before every post: there are no more. The news count posts by the `followed`, but
        all others as well beyond `KEPT_WITH_STRANGERS` times as many.
        """
        ...

    def discard(self, user_id: str, since: CompleteSince) -> None:
        """Delete a user's posts before instants; pages no longer read these posts here."""
        ...
