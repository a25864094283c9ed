"""The graph as edges: one document for each pair of an owner of circles and a member.

The mapping collection of MongoDB Applied Design Patterns, ch. 8; it has no bound.
"""

from collections import defaultdict
from collections.abc import Collection as Ids
from datetime import datetime
from typing import Annotated, Any, Literal, TypedDict

from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.social.graph.audience import MAX_CIRCLES
from chalicelib.social.graph.store import GraphPerson, Pair, Relations
from chalicelib.social.paging import IdRange

End = Literal["owner", "member"]


class Ends(TypedDict):
    """The two users of an edge, by id or by name: the owner of circles and the member."""

    owner: str
    member: str


class Edge(TypedDict):
    """A member in the circles of an owner, by the circles' keys."""

    _id: Ends
    circles: Annotated[list[str], AtMost(MAX_CIRCLES)]
    names: Ends
    since: datetime


# Queries hint at these: otherwise the planner may scan the edges of all users in the range.
_BY_OWNER = [("_id.owner", ASCENDING), ("_id.member", ASCENDING)]
_BY_CIRCLE = [("_id.owner", ASCENDING), ("circles", ASCENDING), ("_id.member", ASCENDING)]
_BY_MEMBER = [("_id.member", ASCENDING), ("_id.owner", ASCENDING)]
# By default the first batch has about a hundred documents: longer lists need a second call.
_IDS_AT_ONCE = 10_000
EDGES = Collection(
    "social.edge",
    Edge,
    indexes=(
        IndexModel(_BY_OWNER),
        IndexModel(_BY_CIRCLE),
        IndexModel(_BY_MEMBER),
    ),
    shard_key={"_id.owner": 1},
)


class EdgeGraph:
    """The store `edges`, for any number of members and followers of a user."""

    def __init__(self, database: Database[Document]) -> None:
        self._database = database
        self._edges = EDGES.of(database)

    def circles(self, owner_id: str, member_id: str, session: ClientSession) -> frozenset[str]:
        """Return the keys of the owner's circles with a member."""
        edge = self._edges.find_one(
            edge_filter(owner_id, member_id), {"circles": 1}, session=session
        )
        return frozenset(edge["circles"] if edge else ())

    def write(self, pair: Pair, session: ClientSession, *, owner: bool, member: bool) -> None:
        """Write or delete the edge of a pair, if this store has one of the two users."""
        if not (owner or member):
            return
        where = edge_filter(pair.owner.id, pair.member.id)
        if not pair.after:
            self._edges.delete_one(where, session=session)
            return
        self._edges.update_one(where, edge_update(pair), upsert=True, session=session)

    def members(
        self,
        owner_id: str,
        circles: Ids[str] | None,
        ids: IdRange,
        session: ClientSession | None = None,
    ) -> list[GraphPerson]:
        """Return the members of circles in a range of ids, ordered by id. None: all circles."""
        where: Document = {"_id.owner": owner_id}
        if circles is not None:
            where["circles"] = {"$in": list(circles)}
        return self._people("member", where, ids, session)

    def followers(self, user_id: str, ids: IdRange) -> list[GraphPerson]:
        """Return the followers of a user in a range of ids, ordered by id."""
        return self._people("owner", {"_id.member": user_id}, ids, None)

    def follower_ids(self, user_id: str, ids: IdRange) -> list[str]:
        """Return the ids of the followers of a user, in order, from the index alone."""
        stages: list[Document] = [
            {"$match": {"_id.member": user_id, "_id.owner": ids.bounds}},
            {"$sort": {"_id.owner": 1}},
            *([{"$limit": ids.limit}] if ids.limit else []),
            {"$group": {"_id": None, "ids": {"$push": "$_id.owner"}}},
        ]
        rows = self._database[EDGES.name].aggregate(stages, hint=dict(_BY_MEMBER))
        found = next(rows, None)
        return list(found["ids"]) if found else []

    def member_ids(self, owner_id: str) -> list[str]:
        """Return the ids of all members of a user's circles, in order, from the index alone."""
        stages: list[Document] = [
            {"$match": {"_id.owner": owner_id}},
            {"$sort": {"_id.member": 1}},
            {"$project": {"_id": "$_id.member"}},
        ]
        rows = self._database[EDGES.name]
        found = rows.aggregate(stages, hint=dict(_BY_OWNER), batchSize=_IDS_AT_ONCE)
        return [edge["_id"] for edge in found]

    def owners_among(self, member_id: str, owner_ids: Ids[str]) -> list[str]:
        """Return the ids among `owner_ids` of users who follow a member."""
        pairs = {"_id.owner": {"$in": list(owner_ids)}, "_id.member": member_id}
        found = self._edges.find(pairs, {"_id": 1}).hint(_BY_OWNER)
        return [edge["_id"]["owner"] for edge in found]

    def count_followers(self, user_id: str) -> int:
        """Count the followers of a user."""
        return self._edges.count_documents({"_id.member": user_id})

    def _people(
        self, side: End, where: Document, ids: IdRange, session: ClientSession | None
    ) -> list[GraphPerson]:
        found = (
            self._edges.find(
                {**where, f"_id.{side}": ids.bounds}, {f"names.{side}": 1}, session=session
            )
            .hint(
                _BY_MEMBER if side == "owner" else _BY_CIRCLE if "circles" in where else _BY_OWNER
            )
            .sort(f"_id.{side}", ASCENDING)
            .limit(ids.limit or 0)
        )
        return [GraphPerson(edge["_id"][side], edge["names"][side]) for edge in found]

    def only_in(
        self, owner_id: str, circle: str, members: Ids[str], session: ClientSession
    ) -> list[str]:
        """Return the ids among `members` that are in no circle of the owner but `circle`."""
        where = {"_id.owner": owner_id, "_id.member": {"$in": list(members)}}
        found = self._edges.find({**where, "circles": [circle]}, {}, session=session)
        return [edge["_id"]["member"] for edge in found.hint(_BY_OWNER)]

    def drop_circle(
        self, owner_id: str, circle: str, members: Ids[str], session: ClientSession
    ) -> None:
        """Remove a circle from the edges of `members`; delete edges without another circle."""
        among: Document = {"_id.owner": owner_id, "_id.member": {"$in": list(members)}}
        self._edges.delete_many({**among, "circles": [circle]}, session=session)
        self._edges.update_many(
            {**among, "circles": circle}, {"$pull": {"circles": circle}}, session=session
        )

    def relations(self, own: Document, others: Ids[str]) -> Relations:
        """Return a user's ties to others, from the edges."""
        me = own["_id"]
        wanted = [edge_filter(other, me)["_id"] for other in others]
        wanted += [edge_filter(me, other)["_id"] for other in others]
        circled_by: dict[str, frozenset[str]] = defaultdict(frozenset)
        following = set()
        # The ids alone match, but only the shard key `_id.owner` selects the shards.
        where = {"_id": {"$in": wanted}, "_id.owner": {"$in": [me, *others]}}
        for edge in self._edges.find(where, {"circles": 1}).hint([("_id", ASCENDING)]):
            if edge["_id"]["owner"] == me:
                following.add(edge["_id"]["member"])
            else:
                circled_by[edge["_id"]["owner"]] = frozenset(edge["circles"])
        return Relations(dict(circled_by), frozenset(following))

    def rename(
        self, person: GraphPerson, owners: Ids[str], members: Ids[str], session: ClientSession
    ) -> None:
        """Write a user's name to the edges with `owners` and with `members`."""
        as_owner = {"_id.owner": person.id, "_id.member": {"$in": list(members)}}
        as_member = {"_id.member": person.id, "_id.owner": {"$in": list(owners)}}
        for where, side in ((as_owner, "owner"), (as_member, "member")):
            change = {"$set": {f"names.{side}": person.name}}
            self._edges.update_many(where, change, session=session)

    def former_name_holders(
        self, person: GraphPerson, side: End, ids: IdRange
    ) -> list[GraphPerson]:
        """Return the other ends of a person's edges that have a former name of the person.

        `side` is the person's end of the edge.
        """
        where = {f"_id.{side}": person.id, f"names.{side}": {"$ne": person.name}}
        return self._people("member" if side == "owner" else "owner", where, ids, None)


def edge_filter(owner_id: str, member_id: str) -> Document:
    """Return the filter of one edge; the order of the two fields is part of the id."""
    return {"_id": {"owner": owner_id, "member": member_id}}


def edge_update(pair: Pair) -> dict[str, Any]:
    """Return the update that sets a pair's edge to the pair's circles `after` and names."""
    names = {"owner": pair.owner.name, "member": pair.member.name}
    return {
        "$set": {"circles": sorted(pair.after), "names": names},
        "$setOnInsert": {"since": pair.ts},
    }
