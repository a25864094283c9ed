"""What a store of the social graph can do: embedded in the users, or as edges between them."""

from collections.abc import Collection as Ids
from collections.abc import Mapping
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from pymongo.client_session import ClientSession

from chalicelib.database import Document
from chalicelib.social.paging import IdRange

StoreName = Literal["embedded", "edges"]


class GraphPerson(NamedTuple):
    """A user with the name that copies of it have."""

    id: str
    name: str


class Pair(NamedTuple):
    """An owner of circles and another user, with the circles that the other is in since `ts`.

    Circles are named by their keys, here and wherever the graph is kept.
    """

    owner: GraphPerson
    member: GraphPerson
    before: frozenset[str]
    after: frozenset[str]
    ts: datetime


class Relations(NamedTuple):
    """A user's ties to others: their circles that the user is in, and those the user follows."""

    circled_by: Mapping[str, frozenset[str]]
    following: frozenset[str]


class GraphStore(Protocol):
    """Where the circles' members and the followers of a user are kept.

    Each of the two users of a pair has a store of its own. A pair with at least one user in the
    store `edges` has an edge; the other user's document has the pair too if that one is embedded.
    """

    def circles(self, owner_id: str, member_id: str, session: ClientSession) -> frozenset[str]:
        """Return the owner's circles that somebody is in; asked of the owner's store."""
        ...

    def write(self, pair: Pair, session: ClientSession, *, owner: bool, member: bool) -> None:
        """Make the pair's circles `after` in the documents of those who are kept here."""
        ...

    def members(
        self,
        owner_id: str,
        circles: Ids[str] | None,
        ids: IdRange,
        session: ClientSession | None = None,
    ) -> list[GraphPerson]:
        """Return the members of these circles, or of all, by id."""
        ...

    def followers(self, user_id: str, ids: IdRange) -> list[GraphPerson]:
        """Return those who have a user in their circles, by id."""
        ...

    def follower_ids(self, user_id: str, ids: IdRange) -> list[str]:
        """Return the ids of those who have a user in their circles, in order."""
        ...

    def only_in(
        self, owner_id: str, circle: str, members: Ids[str], session: ClientSession
    ) -> list[str]:
        """Return the members of a circle who are in no other; asked of the owner's store."""
        ...

    def drop_circle(
        self, owner_id: str, circle: str, members: Ids[str], session: ClientSession
    ) -> None:
        """Take a circle from its members, as far as they are kept here."""
        ...

    def relations(self, own: Document, others: Ids[str]) -> Relations:
        """Return a user's ties to others; `own` is the document that `following.reader` reads."""
        ...

    def rename(
        self, person: GraphPerson, owners: Ids[str], members: Ids[str], session: ClientSession
    ) -> None:
        """Give a user's copies its name: with those who circle it, and with its members."""
        ...
