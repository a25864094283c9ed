"""Protocols of the designs of walls and news: of all designs, and of stored designs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol

from chalicelib.database import Document
from chalicelib.people.features import Trace
from chalicelib.social.graph.audience import CompleteSince
from chalicelib.social.paging import ListEntry, ListPosition
from chalicelib.social.posts.shapes import PostBody, ShownPost

NewsDesign = Literal["references", "copies", "pull"]
# The two parts of the news: by followed users, and sent to the reader.
Part = Literal["news", "sent"]
# A trim leaves a reader about this many times `keep` posts at most, strangers' posts included.
KEPT_WITH_STRANGERS = 4


class View(Protocol):
    """The walls or the news of all users.

    A view returns candidates; the page checks whether the reader may see each.
    """

    def newest(
        self, user_id: str, after: ListPosition | None, count: int
    ) -> Sequence[ListEntry[ShownPost]]:
        """Return the entries after a position, newest first: fewer than `count` only at the end."""
        ...


class NewsView(View, Protocol):
    """The news, and the posts sent to a user."""

    def newest_sent(
        self, user_id: str, after: ListPosition | None, count: int
    ) -> Sequence[ListEntry[ShownPost]]:
        """Return the posts perhaps sent to a user, in the same way."""
        ...


class StoredView(View, Protocol):
    """A view with its own documents, which have to agree with the posts.

    Each write is idempotent.
    """

    def add(self, posts: Sequence[PostBody], user_ids: Sequence[str]) -> None:
        """Add each post, read with its last comments, to each user; make older copies equal to it.

        After a failure, NotInserted or another, some additions may be missing: add all again.
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
        """Delete all documents of a user; with `until`, only posts up to that instant."""
        ...

    def trace(self, user_id: str) -> Trace:
        """Return the trace that finds and exports the documents of a user."""
        ...


class StoredNews(NewsView, StoredView, Protocol):
    """News with their own documents.

    `begun`: the rows of `beginning` for the same part, position and count; None: not read yet.
    """

    def beginning(
        self, user_id: str, part: Part, after: ListPosition | None, count: int
    ) -> Document:
        """Return the `$lookup` of a user's first rows after a position, without its `as`."""
        ...

    def newest(
        self,
        user_id: str,
        after: ListPosition | None,
        count: int,
        begun: Sequence[Document] | None = None,
    ) -> Sequence[ListEntry[ShownPost]]:
        """Return the entries after a position, as in `View`."""
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
        """Return, for each part, the instant before which a trim deletes stored posts.

        From then on, the part `news` has at least `keep` posts by `followed` users, or
        `KEPT_WITH_STRANGERS` times `keep` posts by any author. The part `sent` has `keep` posts, or
        the same instant as `news`. EPOCH: all posts of the part stay.
        """
        ...

    def discard(self, user_id: str, since: CompleteSince) -> None:
        """Delete a user's stored posts before the instants; pages already pull these posts."""
        ...
