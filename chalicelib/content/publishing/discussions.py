"""What publishing asks of comments: a discussion for each page, with its name and its end.

Comments are another feature; the roof hands in how they do it.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pymongo.client_session import ClientSession

from chalicelib.runtime import Runtime


class Discussed(NamedTuple):
    """A page as its discussion names it."""

    title: str
    url: str


class Discussions(Protocol):
    """The discussions of pages, by the ids of their comments' nodes."""

    def begin(
        self, runtime: Runtime, discussion: str, page: Discussed, session: ClientSession
    ) -> None:
        """Make a discussion in the transaction that publishes its page; one there is taken."""
        ...

    def tell(
        self, runtime: Runtime, discussion: str, page: Discussed, *, close: bool | None
    ) -> None:
        """Give a discussion its page's title and address; close or open it, or leave it (None)."""
        ...

    def end(self, runtime: Runtime, discussion: str) -> None:
        """Delete a discussion with its comments, if it is there."""
        ...

    def counts(self, runtime: Runtime, discussions: Sequence[str]) -> dict[str, int]:
        """Return how many comments of each discussion everybody sees."""
        ...


def discussion_of(site: str, node_id: str) -> str:
    """Return the id of a page's discussion."""
    return f"{site}:{node_id}"
