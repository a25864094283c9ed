"""What every design of the walls and of the news can do."""

from collections.abc import Sequence
from typing import Literal, Protocol

from chalicelib.database import Document
from chalicelib.social.paging.positions import Entry, Position

WallDesign = Literal["copies", "posts"]
NewsDesign = Literal["references", "copies", "pull"]


class View(Protocol):
    """Where the posts of many users' walls, or news, are found.

    A view holds what may be shown: who may see it is asked at reading. Whatever is added,
    changed or removed twice is so once.
    """

    def add(self, posts: Sequence[Document], user_ids: Sequence[str]) -> None:
        """Give each user each post, read with its last comments.

        Raises NotInserted or another failure after bringing them to all others.
        """
        ...

    def refresh(self, post: Document) -> None:
        """Make every copy of a post what the post is, unless it is newer already."""
        ...

    def remove(self, post_id: str) -> None:
        """Take a post from every user."""
        ...

    def take(self, post_ids: Sequence[str], user_id: str) -> None:
        """Take posts from one user."""
        ...

    def erase(self, user_id: str) -> None:
        """Drop all that a user has here."""
        ...

    def count(self, user_id: str) -> int:
        """Count the documents that a user has here."""
        ...

    def newest(self, user_id: str, after: Position | None, count: int) -> list[Entry]:
        """Return what follows a position, newest first: fewer than `count` at the end alone."""
        ...


class NewsView(View, Protocol):
    """The news, and what was sent to a user among them."""

    def trim(self, user_id: str, keep: int) -> bool:
        """Drop what a user has beyond at least so many; tell whether there was any."""
        ...

    def sent(self, user_id: str, after: Position | None, count: int) -> list[Entry]:
        """Return what was perhaps sent to a user, in the same way."""
        ...
