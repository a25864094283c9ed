"""The directed graph of circles: whoever is in my circles, I follow.

Both directions stand inside the two users' documents and change in one transaction (MongoDB
Applied Design Patterns, ch. 9, "Maintaining the Social Graph"). User ids and circle ids are
patterns without dots and dollars, so they are safe as parts of a field path; names never are
part of one.
"""

from collections.abc import Collection as Ids
from collections.abc import Iterable
from typing import Any

from pymongo import ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.errors import (
    CannotCircleSelf,
    TooManyCircles,
    TooManyFollowers,
    TooManyMembers,
    UnknownCircle,
    UnknownUser,
)
from chalicelib.social.models import ALL_CIRCLES, MAX_CIRCLES, PUBLIC
from chalicelib.social.users import collection
from chalicelib.social.visibility import Reader

# What two users' documents hold well: adding one to a map of 1,000 takes a millisecond.
MAX_FOLLOWERS = 1_000
# Over all circles of a user; somebody in two circles counts twice.
MAX_MEMBERSHIPS = 1_000


def put_circle(
    database: Database[Document], owner_id: str, circle_id: str, name: str
) -> tuple[Document, bool]:
    """Make or rename a circle of a user who exists; return it, and whether it is new.

    Raises TooManyCircles.
    """
    path = f"circles.{circle_id}"
    users = collection(database)
    # The first try of a rename can lose to a deletion, and that of a making to another making.
    for _ in range(2):
        renamed = users.find_one_and_update(
            {"_id": owner_id, path: {"$exists": True}},
            {"$set": {f"{path}.name": name}},
            projection={path: 1},
            return_document=ReturnDocument.AFTER,
        )
        if renamed:
            circle: Document = renamed["circles"][circle_id]
            return circle, False
        new = {"name": name, "members": {}}
        made = users.update_one(
            {"_id": owner_id, path: {"$exists": False}, "counts.circles": {"$lt": MAX_CIRCLES}},
            {"$set": {path: new}, "$inc": {"counts.circles": 1}},
        )
        if made.matched_count:
            return new, True
    raise TooManyCircles


def circles_of(database: Database[Document], owner_id: str) -> Document:
    """Return a user's circles as `{circle id: {name, members}}`."""
    owner = collection(database).find_one({"_id": owner_id}, {"circles": 1})
    return owner["circles"] if owner else {}


def has_circles(database: Database[Document], owner_id: str, circle_ids: Iterable[str]) -> bool:
    """Tell whether a user has all of these circles."""
    has = {f"circles.{circle_id}": {"$exists": True} for circle_id in circle_ids}
    return collection(database).find_one({"_id": owner_id, **has}, {"_id": 1}) is not None


def delete_circle(database: Database[Document], owner_id: str, circle_id: str) -> None:
    """Delete a circle, which ends the following of those who were in no other."""
    users = collection(database)
    follower, circles = f"followers.{owner_id}", f"followers.{owner_id}.circles"

    def work(session: ClientSession) -> None:
        owner = users.find_one({"_id": owner_id}, {f"circles.{circle_id}": 1}, session=session)
        circle = owner and owner["circles"].get(circle_id)
        if not circle:
            return
        members = list(circle["members"])
        ended = users.update_many(
            {"_id": {"$in": members}, circles: [circle_id]},
            {"$unset": {follower: ""}, "$inc": {"counts.followers": -1}},
            session=session,
        ).modified_count
        users.update_many(
            {"_id": {"$in": members}, circles: circle_id},
            {"$pull": {circles: circle_id}},
            session=session,
        )
        counts = {"circles": -1, "memberships": -len(members), "following": -ended}
        users.update_one(
            {"_id": owner_id},
            {"$unset": {f"circles.{circle_id}": ""}, "$inc": _counts(counts)},
            session=session,
        )

    in_transaction(database, work)


def add_member(database: Database[Document], owner_id: str, circle_id: str, member_id: str) -> None:
    """Put somebody into a circle, which is to follow them; doing so twice changes nothing.

    Raises CannotCircleSelf, UnknownUser, UnknownCircle, TooManyMembers and TooManyFollowers.
    """
    if owner_id == member_id:
        raise CannotCircleSelf
    users = collection(database)

    def work(session: ClientSession) -> None:
        owner, member = _pair(database, session, owner_id, member_id, circle_id)
        if member is None:
            raise UnknownUser
        if owner is None or circle_id not in owner["circles"]:
            raise UnknownCircle
        if member_id in owner["circles"][circle_id].get("members", {}):
            return
        is_new = owner_id not in member["followers"]
        if owner["counts"]["memberships"] >= MAX_MEMBERSHIPS:
            raise TooManyMembers
        if is_new and member["counts"]["followers"] >= MAX_FOLLOWERS:
            raise TooManyFollowers
        users.update_one(
            {"_id": owner_id},
            {
                "$set": {f"circles.{circle_id}.members.{member_id}": {"name": member["name"]}},
                "$inc": _counts({"memberships": 1, "following": int(is_new)}),
            },
            session=session,
        )
        users.update_one(
            {"_id": member_id},
            {
                "$set": {f"followers.{owner_id}.name": owner["name"]},
                "$addToSet": {f"followers.{owner_id}.circles": circle_id},
                "$inc": _counts({"followers": int(is_new)}),
            },
            session=session,
        )

    in_transaction(database, work)


def remove_member(
    database: Database[Document], owner_id: str, circle_id: str, member_id: str
) -> None:
    """Take somebody out of a circle; leaving the last one ends the following.

    Where there is nothing to take out, nothing changes.
    """
    users = collection(database)
    follower = f"followers.{owner_id}"

    def work(session: ClientSession) -> None:
        owner, member = _pair(database, session, owner_id, member_id, circle_id)
        circle = owner["circles"].get(circle_id, {}) if owner else {}
        if member is None or member_id not in circle.get("members", {}):
            return
        ended = member["followers"][owner_id]["circles"] == [circle_id]
        users.update_one(
            {"_id": owner_id},
            {
                "$unset": {f"circles.{circle_id}.members.{member_id}": ""},
                "$inc": _counts({"memberships": -1, "following": -int(ended)}),
            },
            session=session,
        )
        left: Document = {"$pull": {f"{follower}.circles": circle_id}}
        gone: Document = {"$unset": {follower: ""}, "$inc": _counts({"followers": -1})}
        users.update_one({"_id": member_id}, gone if ended else left, session=session)

    in_transaction(database, work)


def followers(
    database: Database[Document], user_id: str, after: str, limit: int
) -> list[dict[str, Any]]:
    """Return followers as `{id, name}` by id, those after an id; raises UnknownUser."""
    user = collection(database).find_one({"_id": user_id}, {"followers": 1})
    if user is None:
        raise UnknownUser
    ids = sorted(each for each in user["followers"] if each > after)[:limit]
    return [{"id": each, "name": user["followers"][each]["name"]} for each in ids]


def audience(
    database: Database[Document],
    post: Document,
    *,
    after: str = "",
    until: str | None = None,
    limit: int | None = None,
) -> list[str]:
    """Return the ids of those whom a post goes to, in order.

    A public post goes to the followers, another to the members of its circles. `after` and
    `until` bound the ids, and `limit` their number.
    """
    circles = post["circles"]
    fields = {"followers": 1} if circles == [PUBLIC] else {"circles": 1}
    author = collection(database).find_one({"_id": post["by"]["id"]}, fields)
    if author is None:
        return []
    ids: Ids[str]
    if circles == [PUBLIC]:
        ids = author["followers"]
    else:
        ids = _members(
            author["circles"], author["circles"] if circles == [ALL_CIRCLES] else circles
        )
    return sorted(each for each in ids if each > after and (until is None or each <= until))[:limit]


def reader(
    database: Database[Document], reader_id: str | None, author_ids: Iterable[str]
) -> Reader:
    """Return what a reader is to these authors: one read of the reader's own document."""
    if reader_id is None:
        return Reader()
    authors = set(author_ids)
    fields = {"circles": 1, "blocked": 1, "blocked_by": 1}
    fields |= {f"followers.{author}.circles": 1 for author in authors}
    own = collection(database).find_one({"_id": reader_id}, fields)
    if own is None:
        return Reader(reader_id)
    circling = own.get("followers", {})
    return Reader(
        id=reader_id,
        circled_by={who: frozenset(held["circles"]) for who, held in circling.items()},
        following=frozenset(_members(own["circles"], own["circles"]) & authors),
        blocked=frozenset(authors.intersection(own["blocked"] + own["blocked_by"])),
    )


def _members(circles: Document, named: Ids[str]) -> set[str]:
    return {member for name in named if name in circles for member in circles[name]["members"]}


def _pair(
    database: Database[Document],
    session: ClientSession,
    owner_id: str,
    member_id: str,
    circle_id: str,
) -> tuple[Document | None, Document | None]:
    """Return what the two documents say of each other, and their counts."""
    users = collection(database)
    circle = f"circles.{circle_id}"
    about_member = {"name": 1, "counts": 1, f"{circle}.name": 1, f"{circle}.members.{member_id}": 1}
    about_owner = {"name": 1, "counts": 1, f"followers.{owner_id}": 1}
    return (
        users.find_one({"_id": owner_id}, about_member, session=session),
        users.find_one({"_id": member_id}, about_owner, session=session),
    )


def _counts(changes: dict[str, int]) -> dict[str, int]:
    return {f"counts.{name}": change for name, change in changes.items()}
