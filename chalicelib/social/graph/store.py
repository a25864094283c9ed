"""The contract of a store of the social graph: embedded in users, or edges between users."""

from collections.abc import Collection as Ids
from collections.abc import Mapping
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from pymongo.client_session import ClientSession

from chalicelib.database import Document
from chalicelib.social.paging import IdRange

StoreName = Literal["embedded", "edges"]


class GraphPerson(NamedTuple):
    """A user, by id and by the name in its copies."""

    id: str
    name: str


class Pair(NamedTuple):
    """An owner of circles and a member, with the member's circles `before` and `after` `ts`.

    Circles have their keys here and in every store.
    """

    owner: GraphPerson
    member: GraphPerson
    before: frozenset[str]
    after: frozenset[str]
    ts: datetime


class Relations(NamedTuple):
    """A user's ties to others: by owner, the circles with the user; the users followed."""

    circled_by: Mapping[str, frozenset[str]]
    following: frozenset[str]


class GraphStore(Protocol):
    """A store of members and followers.

    Each of the two users of a pair has its own store. A pair with at least one user in the store
    `edges` has an edge. If the other user is embedded, that user's document has the pair too.
    """

    def circles(self, owner_id: str, member_id: str, session: ClientSession) -> frozenset[str]:
        """Return the owner's circles with a member; ask the owner's store."""
        ...

    def write(self, pair: Pair, session: ClientSession, *, owner: bool, member: bool) -> None:
        """Write the pair's circles `after` for its sides in this store."""
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
        """Return the followers of a user by id."""
        ...

    def follower_ids(self, user_id: str, ids: IdRange) -> list[str]:
        """Return the ids of the followers of a user, in order."""
        ...

    def only_in(
        self, owner_id: str, circle: str, members: Ids[str], session: ClientSession
    ) -> list[str]:
        """Return the members of a circle who are in no other; ask the owner's store."""
        ...

    def drop_circle(
        self, owner_id: str, circle: str, members: Ids[str], session: ClientSession
    ) -> None:
        """Remove a circle from its members in this store."""
        ...

    def relations(self, own: Document, others: Ids[str]) -> Relations:
        """Return a user's ties to others; `own` is the user's document of `following.reader`."""
        ...

    def rename(
        self, person: GraphPerson, owners: Ids[str], members: Ids[str], session: ClientSession
    ) -> None:
        """Write a user's name to its copies: at `owners` who circle it, and at its `members`."""
        ...
