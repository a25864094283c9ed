"""Users: the documents that hold a person's name, profile and place in the social graph."""

from typing import Any

from pymongo import ReturnDocument
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database

from chalicelib.database import Collection, Document
from chalicelib.errors import UnknownUser
from chalicelib.identity import Principal
from chalicelib.social.models import UserSettings

USERS = Collection("social.user", shard_key={"_id": "hashed"})

_PROFILE = {"name": 1, "profile": 1, "counts": 1}


def collection(database: Database[Document]) -> MongoCollection[Document]:
    """Return the users' collection."""
    return database[USERS.name]


def find(database: Database[Document], user_id: str) -> Document:
    """Return a user's name, profile and counts; raises UnknownUser."""
    user = collection(database).find_one({"_id": user_id}, _PROFILE)
    if user is None:
        raise UnknownUser
    return user


def put(database: Database[Document], caller: Principal, settings: UserSettings) -> Document:
    """Give the caller a name and a profile, making the user where there is none; return it."""
    return _upsert(database, caller, settings.model_dump(exclude_none=True))


def ensure(database: Database[Document], caller: Principal) -> dict[str, Any]:
    """Return the caller as `{id, name}`; at the first write the user is made, as the token says."""
    user = collection(database).find_one({"_id": caller.id}, {"name": 1})
    user = user or _upsert(database, caller, {})
    return {"id": user["_id"], "name": user["name"]}


def _upsert(database: Database[Document], caller: Principal, given: Document) -> Document:
    update: Document = {"$setOnInsert": _defaults(caller, besides=given)}
    if given:
        update["$set"] = given
    user = collection(database).find_one_and_update(
        {"_id": caller.id},
        update,
        upsert=True,
        projection=_PROFILE,
        return_document=ReturnDocument.AFTER,
    )
    assert user is not None  # noqa: S101 - an upsert always gives a document
    return user


def _defaults(caller: Principal, *, besides: Document) -> Document:
    """Return the fields of a new user, without those that are given anyway.

    `circles` {circle id: {name, members {user id: {name}}}} and `followers` {user id: {name,
    circles}} are the graph's two directions (MongoDB Applied Design Patterns, ch. 9).
    """
    fields: Document = {
        "name": caller.name,
        "profile": {},
        "circles": {},
        "followers": {},
        "blocked": [],
        "blocked_by": [],
        "graph_store": "embedded",
        "counts": {"followers": 0, "following": 0, "circles": 0, "memberships": 0},
    }
    return {name: value for name, value in fields.items() if name not in besides}
