"""The circles of a user: stored in the user's document, wherever their members are."""

from collections.abc import Iterable

from pymongo import ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.http import Input
from chalicelib.runtime import Runtime
from chalicelib.social.errors import TooManyCircles, UnknownCircle
from chalicelib.social.graph import following, memberships
from chalicelib.social.graph.answers import MEMBERS_LISTED, CircleAnswer, person_answer
from chalicelib.social.graph.profiles import named_circles, restricted
from chalicelib.social.graph.store import GraphPerson, GraphStore
from chalicelib.social.graph.users import USERS
from chalicelib.social.paging.id_range import IdRange


def put(runtime: Runtime, owner_id: str, circle_id: str, name: str) -> tuple[CircleAnswer, bool]:
    """Make or rename a circle of a user who exists; return it, and whether it is new.

    Raises TooManyCircles.
    """
    database = runtime.database
    path = f"circles.{circle_id}"
    has_room = {"counts.circles": {"$lt": runtime.bounds.social.circles}}
    users = USERS.of(database)
    # The first try of a rename can lose to a deletion, and of an insertion to another insertion.
    for _ in range(2):
        renamed = users.find_one_and_update(
            {"_id": owner_id, path: {"$exists": True}},
            {"$set": {f"{path}.name": name}},
            projection={"graph_store": 1},
            return_document=ReturnDocument.AFTER,
        )
        if renamed:
            store = following.stores(database)[renamed["graph_store"]]
            return _listed(store, owner_id, circle_id, name), False
        made = users.update_one(
            {"_id": owner_id, path: {"$exists": False}, **has_room},
            {"$set": {path: {"name": name, "members": {}}}, "$inc": {"counts.circles": 1}},
        )
        if made.matched_count:
            return {"id": circle_id, "name": name, "members": []}, True
    raise TooManyCircles


def list_all(database: Database[Document], owner_id: str) -> list[CircleAnswer]:
    """Return a user's circles as `{id, name, members}`, each with its first members."""
    owner = USERS.of(database).find_one({"_id": owner_id}, {"circles": 1, "graph_store": 1})
    if owner is None:
        return []
    store = following.stores(database)[owner["graph_store"]]
    circles = sorted(owner["circles"].items())
    return [_listed(store, owner_id, id_, circle["name"]) for id_, circle in circles]


def _listed(store: GraphStore, owner_id: str, circle_id: str, name: str) -> CircleAnswer:
    members = store.members(owner_id, [circle_id], IdRange(limit=MEMBERS_LISTED))
    return {"id": circle_id, "name": name, "members": [person_answer(each) for each in members]}


def members(
    database: Database[Document], owner_id: str, circle_id: str, ids: IdRange
) -> list[GraphPerson]:
    """Return a circle's members by id; raises UnknownCircle."""
    owned = {"_id": owner_id, f"circles.{circle_id}": {"$exists": True}}
    owner = USERS.of(database).find_one(owned, {"graph_store": 1})
    if owner is None:
        raise UnknownCircle
    store = following.stores(database)[owner["graph_store"]]
    return store.members(owner_id, [circle_id], ids)


def has_all(database: Database[Document], owner_id: str, circle_ids: Iterable[str]) -> bool:
    """Return whether a user has all of these circles."""
    has = {f"circles.{circle_id}": {"$exists": True} for circle_id in circle_ids}
    return USERS.of(database).find_one({"_id": owner_id, **has}, {"_id": 1}) is not None


def check_named(database: Database[Document], owner_id: str, given: Input | None) -> None:
    """Raise UnknownCircle if a profile is for a circle that its owner does not have."""
    named = named_circles(restricted(given)) if given else set()
    if named and not has_all(database, owner_id, named):
        raise UnknownCircle


def delete(runtime: Runtime, owner_id: str, circle_id: str) -> None:
    """Delete a circle, which ends the following of members who are in no other.

    One with more members than a transaction can take loses them a thousand at a time. A
    deletion that was cut short is continued by repeating it.
    """
    while _take_out(runtime, owner_id, circle_id):
        pass


def _take_out(runtime: Runtime, owner_id: str, circle_id: str) -> bool:
    """Take some members out of a circle, and the circle with the last; return whether any stay."""
    database = runtime.database
    users = USERS.of(database)

    def work(session: ClientSession) -> tuple[list[str], bool]:
        fields = {"graph_store": 1, f"circles.{circle_id}.name": 1}
        owner = users.find_one({"_id": owner_id}, fields, session=session)
        if owner is None or circle_id not in owner["circles"]:
            return [], False
        store = following.stores(database)[owner["graph_store"]]
        # Those inside the owner's document are few, and go with the circle.
        most = None if owner["graph_store"] == "embedded" else runtime.bounds.social.members_at_once
        members = [
            each.id for each in store.members(owner_id, [circle_id], IdRange(limit=most), session)
        ]
        stay = len(members) == most
        ended = store.only_in(owner_id, circle_id, members, session)
        change = _less(circle_id, members, ended, stay=stay)
        users.update_one({"_id": owner_id}, change, session=session)
        for each in following.stores(database).values():
            each.drop_circle(owner_id, circle_id, members, session)
        users.update_many(
            {"_id": {"$in": ended}, "graph_store": "embedded"},
            {"$inc": {"counts.followers": -1}},
            session=session,
        )
        return ended, stay

    ended, stay = in_transaction(database, work)
    memberships.count_followers(database, ended, -1)
    return stay


def _less(circle_id: str, members: list[str], ended: list[str], *, stay: bool) -> Document:
    """Return the update of an owner who loses members, and the circle unless others stay."""
    fewer = {"memberships": len(members), "following": len(ended), "circles": int(not stay)}
    change: Document = {"$inc": {f"counts.{name}": -each for name, each in fewer.items()}}
    return change if stay else {**change, "$unset": {f"circles.{circle_id}": ""}}
