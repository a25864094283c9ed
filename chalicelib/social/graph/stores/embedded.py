"""The graph inside the users' documents: members in the owner's, followers in the member's.

MongoDB Applied Design Patterns, ch. 8, "Maintaining the Social Graph". User ids and circle ids
have no dots or dollars, so they are safe as parts of a field path; names are never part of a path.
"""

from collections.abc import Collection as Ids

from pymongo import UpdateOne
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.social.graph import users
from chalicelib.social.graph.circle_keys import by_key, id_of
from chalicelib.social.graph.store import GraphPerson, Pair, Relations
from chalicelib.social.graph.users import Member
from chalicelib.social.paging import IdRange


class EmbeddedGraph:
    """The store `embedded`: in a user's document, up to 1,000 memberships and 1,000 followers."""

    def __init__(self, database: Database[Document]) -> None:
        self._users = users.USERS.of(database)

    def circles(self, owner_id: str, member_id: str, session: ClientSession) -> frozenset[str]:
        """Return the keys of the owner's circles with a member."""
        owner = self._users.find_one({"_id": owner_id}, {"circles": 1}, session=session)
        circles = by_key(owner["circles"] if owner else {})
        return frozenset(each for each in circles if member_id in circles[each]["members"])

    def write(self, pair: Pair, session: ClientSession, *, owner: bool, member: bool) -> None:
        """Write a pair to the documents of its users in this store: `owner`, `member` or both."""
        if owner:
            path = f"circles.{{}}.members.{pair.member.id}"
            joined = {path.format(id_of(each)): {"name": pair.member.name} for each in pair.after}
            left = {path.format(id_of(each)): "" for each in pair.before - pair.after}
            self._update(pair.owner.id, {"$set": joined, "$unset": left}, session)
        if member:
            follower = f"followers.{pair.owner.id}"
            entry = {"name": pair.owner.name, "circles": sorted(pair.after)}
            change = {"$set": {follower: entry}} if pair.after else {"$unset": {follower: ""}}
            self._update(pair.member.id, change, session)

    def _update(self, user_id: str, change: Document, session: ClientSession) -> None:
        given = {operator: fields for operator, fields in change.items() if fields}
        self._users.update_one({"_id": user_id}, given, session=session)

    def members(
        self,
        owner_id: str,
        circles: Ids[str] | None,
        ids: IdRange,
        session: ClientSession | None = None,
    ) -> list[GraphPerson]:
        """Return the members of circles in a range of ids, ordered by id. None: all circles."""
        owner = self._users.find_one({"_id": owner_id}, {"circles": 1}, session=session)
        kept = by_key(owner["circles"] if owner else {})
        named = kept.keys() if circles is None else kept.keys() & set(circles)
        found: dict[str, Member] = {}
        for each in named:
            found |= kept[each]["members"]
        return [GraphPerson(each, found[each]["name"]) for each in ids.cut(found)]

    def followers(self, user_id: str, ids: IdRange) -> list[GraphPerson]:
        """Return the followers of a user in a range of ids, ordered by id."""
        user = self._users.find_one({"_id": user_id}, {"followers": 1})
        found = user["followers"] if user else {}
        return [GraphPerson(each, found[each]["name"]) for each in ids.cut(found)]

    def follower_ids(self, user_id: str, ids: IdRange) -> list[str]:
        """Return the ids of the followers of a user, in order."""
        return [each.id for each in self.followers(user_id, ids)]

    def only_in(
        self, owner_id: str, circle: str, members: Ids[str], session: ClientSession
    ) -> list[str]:
        """Return the ids among `members` that are in no circle of the owner but `circle`."""
        owner = self._users.find_one({"_id": owner_id}, {"circles": 1}, session=session)
        kept = by_key(owner["circles"] if owner else {})
        elsewhere = [kept[each]["members"] for each in kept if each != circle]
        return sorted(set(members).difference(*elsewhere))

    def drop_circle(
        self, owner_id: str, circle: str, members: Ids[str], session: ClientSession
    ) -> None:
        """Remove a circle from `members`' documents; delete entries without another circle."""
        follower, circles = f"followers.{owner_id}", f"followers.{owner_id}.circles"
        among = {"_id": {"$in": list(members)}}
        end: Document = {"$unset": {follower: ""}}
        self._users.update_many({**among, circles: [circle]}, end, session=session)
        pull: Document = {"$pull": {circles: circle}}
        self._users.update_many({**among, circles: circle}, pull, session=session)

    def relations(self, own: Document, others: Ids[str]) -> Relations:
        """Return a user's ties to others, from the user's document."""
        circled_by = {
            who: frozenset(held["circles"]) for who, held in own.get("followers", {}).items()
        }
        followed = {each for circle in own["circles"].values() for each in circle["members"]}
        return Relations(circled_by, frozenset(followed.intersection(others)))

    def rename(
        self, person: GraphPerson, owners: Ids[str], members: Ids[str], session: ClientSession
    ) -> None:
        """Write a user's name to its copies in the documents of `owners` and `members`."""
        follower = f"followers.{person.id}"
        self._users.update_many(
            {"_id": {"$in": list(members)}, follower: {"$exists": True}},
            {"$set": {f"{follower}.name": person.name}},
            session=session,
        )
        among = {"_id": {"$in": list(owners)}}
        copies = []
        for owner in self._users.find(among, {"circles": 1}, session=session):
            for circle_id, circle in owner["circles"].items():
                if person.id in circle["members"]:
                    name = f"circles.{circle_id}.members.{person.id}.name"
                    copies.append(UpdateOne({"_id": owner["_id"]}, {"$set": {name: person.name}}))
        if copies:
            self._users.bulk_write(copies, ordered=False, session=session)
