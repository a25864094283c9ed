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
    """A user's id, and the user's name as the graph's copies have it."""

    id: str
    name: str


class Pair(NamedTuple):
    """An owner of circles and a member, with a change of the circles that have the member.

    `before` and `after` are the keys of those circles; `ts` is the time of the change.
    """

    owner: GraphPerson
    member: GraphPerson
    before: frozenset[str]
    after: frozenset[str]
    ts: datetime


class Relations(NamedTuple):
    """A user's ties to others.

    - `circled_by`: by owner, the keys of the owner's circles that have the user
    - `following`: the ids of the users whom the user follows
    """

    circled_by: Mapping[str, frozenset[str]]
    following: frozenset[str]


class GraphStore(Protocol):
    """A store of members and followers.

    The two users of a pair may have different stores. If either user is in the store `edges`, the
    pair has an edge. A user in the store `embedded` has the pair in the user's document.
    """

    def circles(self, owner_id: str, member_id: str, session: ClientSession) -> frozenset[str]:
        """Return the keys of the owner's circles with a member; call only the owner's store."""
        ...

    def write(self, pair: Pair, session: ClientSession, *, owner: bool, member: bool) -> None:
        """Store the pair's circles `after`; `owner`, `member`: whether each has this store."""
        ...

    def members(
        self,
        owner_id: str,
        circles: Ids[str] | None,
        ids: IdRange,
        session: ClientSession | None = None,
    ) -> list[GraphPerson]:
        """Return the members of circles in a range of ids, ordered by id. None: all circles."""
        ...

    def followers(self, user_id: str, ids: IdRange) -> list[GraphPerson]:
        """Return the followers of a user in a range of ids, ordered by id."""
        ...

    def follower_ids(self, user_id: str, ids: IdRange) -> list[str]:
        """Return the ids of a user's followers in a range of ids, in order."""
        ...

    def only_in(
        self, owner_id: str, circle: str, members: Ids[str], session: ClientSession
    ) -> list[str]:
        """Return the ids among `members` that are in no circle of the owner but `circle`.

        Call only the owner's store.
        """
        ...

    def drop_circle(
        self, owner_id: str, circle: str, members: Ids[str], session: ClientSession
    ) -> None:
        """Remove a circle from the ties of `members` here; delete ties without another circle."""
        ...

    def relations(self, own: Document, others: Ids[str]) -> Relations:
        """Return a user's ties to others; `own` is the document as `following.reader` reads it."""
        ...

    def rename(
        self, person: GraphPerson, owners: Ids[str], members: Ids[str], session: ClientSession
    ) -> None:
        """Write a user's name to copies: as a member of `owners`, as a follower of `members`."""
        ...
