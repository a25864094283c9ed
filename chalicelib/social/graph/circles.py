"""A user's circles: stored in the user's document, wherever their members are."""

from collections.abc import Iterable

from pymongo import ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Document, in_transaction
from chalicelib.runtime import Runtime
from chalicelib.social.errors import TooManyCircles, UnknownCircle
from chalicelib.social.graph import following, memberships
from chalicelib.social.graph.audience import ALL_CIRCLES, PUBLIC
from chalicelib.social.graph.circle_keys import key_of, new_key
from chalicelib.social.graph.forms import MEMBERS_LISTED, CircleAnswer, person_answer
from chalicelib.social.graph.store import GraphPerson, GraphStore
from chalicelib.social.graph.users import USERS, Circle
from chalicelib.social.messages import NotifyFeed
from chalicelib.social.paging import IdRange
from chalicelib.social.telling import telling


def put(runtime: Runtime, owner_id: str, circle_id: str, name: str) -> tuple[CircleAnswer, bool]:
    """Make or rename a circle of a known user; return it, and whether it is new.

    Raises TooManyCircles.
    """
    database = runtime.database
    path, key = f"circles.{circle_id}", new_key(circle_id, runtime.now(), runtime.random)
    has_room = {"counts.circles": {"$lt": runtime.bounds.social.circles}}
    users = USERS.of(database)
    # Two tries: another call may make the circle between the two updates of the first try.
    for _ in range(2):
        renamed = users.find_one_and_update(
            {"_id": owner_id, path: {"$exists": True}},
            {"$set": {f"{path}.name": name}},
            projection={"graph_store": 1, f"{path}.name": 1, f"{path}.key": 1},
            return_document=ReturnDocument.AFTER,
        )
        if renamed:
            store = following.stores(database)[renamed["graph_store"]]
            circle = renamed["circles"][circle_id]
            return _circle_answer(store, owner_id, circle_id, circle, MEMBERS_LISTED), False
        made = users.update_one(
            {"_id": owner_id, path: {"$exists": False}, **has_room},
            {
                "$set": {path: {"name": name, "key": key, "members": {}}},
                "$inc": {"counts.circles": 1},
            },
        )
        if made.matched_count:
            return {"id": circle_id, "name": name, "members": []}, True
    raise TooManyCircles


def list_all(
    database: Database[Document], owner_id: str, most: int = MEMBERS_LISTED
) -> list[CircleAnswer]:
    """Return a user's circles, each with its first `most` members; none for an unknown user."""
    owner = USERS.of(database).find_one({"_id": owner_id}, {"circles": 1, "graph_store": 1})
    if owner is None:
        return []
    store = following.stores(database)[owner["graph_store"]]
    circles = sorted(owner["circles"].items())
    return [_circle_answer(store, owner_id, *each, most) for each in circles]


def _circle_answer(
    store: GraphStore, owner_id: str, circle_id: str, circle: Circle, most: int
) -> CircleAnswer:
    members = store.members(owner_id, [key_of(circle_id, circle)], IdRange(limit=most))
    return {
        "id": circle_id,
        "name": circle["name"],
        "members": [person_answer(each) for each in members],
    }


def members(
    database: Database[Document], owner_id: str, circle_id: str, ids: IdRange
) -> list[GraphPerson]:
    """Return the members of a circle in a range of ids, ordered by id; raises UnknownCircle."""
    owned = {"_id": owner_id, f"circles.{circle_id}": {"$exists": True}}
    owner = USERS.of(database).find_one(owned, {"graph_store": 1, f"circles.{circle_id}.key": 1})
    if owner is None:
        raise UnknownCircle
    store = following.stores(database)[owner["graph_store"]]
    return store.members(owner_id, [key_of(circle_id, owner["circles"][circle_id])], ids)


def keys(
    database: Database[Document], owner_id: str, audiences: Iterable[list[str]]
) -> dict[str, str]:
    """Return a map from each circle's id in the audiences to the circle's key.

    `*public*` and `*circles*` are their own keys. Raises UnknownCircle if the owner lacks a circle.
    """
    found = {PUBLIC: PUBLIC, ALL_CIRCLES: ALL_CIRCLES}
    named = {each for audience in audiences for each in audience} - found.keys()
    if not named:
        return found
    fields = {f"circles.{circle_id}.key": 1 for circle_id in named}
    owner = USERS.of(database).find_one({"_id": owner_id}, fields)
    if owner is None or not named <= owner["circles"].keys():
        raise UnknownCircle
    return found | {each: key_of(each, owner["circles"][each]) for each in named}


def delete(runtime: Runtime, owner_id: str, circle_id: str) -> None:
    """Delete a circle; its owner stops following members who are in no other circle.

    A transaction removes at most a thousand members stored as edges. After a crash, a repeated
    call continues the deletion. A later circle of the same id is another circle: it inherits
    nothing.
    """
    with telling(runtime, NotifyFeed(by=owner_id, kind="follow")):
        key = _take_out(runtime, owner_id, circle_id)
        while key:
            key = _take_out(runtime, owner_id, circle_id, key)


def _take_out(
    runtime: Runtime, owner_id: str, circle_id: str, begun: str | None = None
) -> str | None:
    """Remove a batch of members from a circle; with the last batch, delete the circle.

    `begun` is the circle's key from an earlier batch: a later circle of the same id stays. Returns
    the key if members may remain. None: no circle has this key any more.
    """
    database = runtime.database
    users = USERS.of(database)

    def work(session: ClientSession) -> tuple[list[str], str | None]:
        fields = {"graph_store": 1, f"circles.{circle_id}.key": 1}
        owner = users.find_one({"_id": owner_id}, fields, session=session)
        if owner is None or circle_id not in owner["circles"]:
            return [], None
        key = key_of(circle_id, owner["circles"][circle_id])
        if begun and key != begun:
            return [], None
        store = following.stores(database)[owner["graph_store"]]
        # Members inside the owner's document are few: one batch removes all.
        most = None if owner["graph_store"] == "embedded" else runtime.bounds.social.members_at_once
        members = [each.id for each in store.members(owner_id, [key], IdRange(limit=most), session)]
        stay = len(members) == most
        ended = store.only_in(owner_id, key, members, session)
        change = _removal_update(circle_id, members, ended, stay=stay)
        users.update_one({"_id": owner_id}, change, session=session)
        for each in following.stores(database).values():
            each.drop_circle(owner_id, key, members, session)
        users.update_many(
            {"_id": {"$in": ended}, "graph_store": "embedded"},
            {"$inc": {"counts.followers": -1}},
            session=session,
        )
        return ended, key if stay else None

    ended, left = in_transaction(database, work)
    memberships.count_followers(database, ended, -1)
    return left


def _removal_update(
    circle_id: str, members: list[str], ended: list[str], *, stay: bool
) -> Document:
    """Return the update of an owner's counts; unless members `stay`, it also deletes the circle."""
    fewer = {"memberships": len(members), "following": len(ended), "circles": int(not stay)}
    change: Document = {"$inc": {f"counts.{name}": -each for name, each in fewer.items()}}
    return change if stay else {**change, "$unset": {f"circles.{circle_id}": ""}}
