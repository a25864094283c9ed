"""Users: the documents that hold a person's name, profile and place in the social graph."""

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Annotated, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel, ReturnDocument
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.assets import pictures
from chalicelib.bounds import BOUNDS
from chalicelib.database import Collection, Document, in_transaction
from chalicelib.database.validators import AtMost
from chalicelib.identity import STAFF_ROLES, Principal
from chalicelib.instants import moment
from chalicelib.jobs import outbox
from chalicelib.people import blocks
from chalicelib.people.blocks import MAX_BLOCKED_BY
from chalicelib.people.jobs import Rename
from chalicelib.people.names import is_reserved
from chalicelib.runtime import Runtime
from chalicelib.social.errors import ReservedName, UnknownUser
from chalicelib.social.graph.audience import CompleteSince
from chalicelib.social.graph.profiles import picture_fields
from chalicelib.social.graph.store import StoreName
from chalicelib.social.graph.user_settings import UserSettings

BY_AWAY = [("away", ASCENDING), ("_id", ASCENDING)]
# Earlier than every post.
EPOCH = moment(0)


class FollowCounts(TypedDict):
    """A user's counts in the graph.

    `following` counts each member once, `memberships` once for each circle.
    """

    followers: int
    following: int
    circles: int
    memberships: int


class By(TypedDict):
    """The author of a text, by id and name."""

    id: str
    name: str


class Member(TypedDict):
    """A member of a circle."""

    name: str


class Circle(TypedDict):
    """A circle with its members by id, unless the members are edges.

    `key` is its identity (`circle_keys`); circles of older releases have none.
    """

    name: str
    key: NotRequired[str]
    members: dict[str, Member]


class Follower(TypedDict):
    """A follower of a user, with the keys of the follower's circles that have the user."""

    name: str
    circles: list[str]


class User(TypedDict):
    """A user as stored.

    While `graph_store` is `embedded`, `circles` (by circle id) and `followers` (by user id) are the
    graph's two directions (MongoDB Applied Design Patterns, ch. 8).

    - `recounted`: the time of the last recount of the followers; missing before the first
    - `pulled`: some of the user's posts are in no stored news, so pages pull these posts
    - `away`: fan-outs skip the user
    - `stale`: the user's news need a rebuild
    - `complete_since`: missing if only an earlier release wrote the user
    - `trimmed`: an earlier release deleted the oldest news, and stored no time of the cut
    """

    _id: str
    name: str
    profile: Document
    profile_circles: NotRequired[dict[str, list[str]]]
    circles: dict[str, Circle]
    followers: dict[str, Follower]
    blocked: Annotated[list[str], AtMost(BOUNDS.social.blocked)]
    blocked_by: Annotated[list[str], AtMost(MAX_BLOCKED_BY)]
    graph_store: StoreName
    counts: FollowCounts
    recounted: NotRequired[datetime]
    last_seen: datetime
    away: bool
    pulled: bool
    stale: bool
    complete_since: NotRequired[CompleteSince]
    trimmed: NotRequired[bool]


class PublicUser(TypedDict):
    """A user's document as `_PROFILE` reads it.

    `profile_circles` has the keys of the circles that may read a field; other fields are public.
    """

    _id: str
    name: str
    profile: Document
    profile_circles: NotRequired[dict[str, list[str]]]
    counts: FollowCounts


USERS = Collection(
    "social.user",
    User,
    indexes=(
        IndexModel(BY_AWAY, partialFilterExpression={"away": True}),
        IndexModel([("last_seen", ASCENDING)], partialFilterExpression={"away": False}),
        IndexModel(
            [("pulled", ASCENDING), ("_id", ASCENDING)],
            partialFilterExpression={"pulled": True},
        ),
        # Finds the users for the recount of followers, the longest not recounted first.
        IndexModel(
            [("graph_store", ASCENDING), ("recounted", ASCENDING)],
            partialFilterExpression={"graph_store": "edges"},
        ),
        # These two serve the erasure of a user.
        IndexModel([("blocked", ASCENDING)]),
        IndexModel([("blocked_by", ASCENDING)]),
    ),
    shard_key={"_id": "hashed"},
)

# An aggregation expression: the ids that a user blocks, and the ids that block the user.
BLOCKED_EITHER_WAY = {"$setUnion": ["$blocked", "$blocked_by"]}
_PROFILE = {"name": 1, "profile": 1, "profile_circles": 1, "counts": 1}


def union_of_blocks(pipeline: list[Document]) -> list[Document]:
    """Return stages that run `pipeline` on users and on people's lists of blocks, and add the rows.

    Both have a person's blocks; before the first write in the feed, only the list has them.
    """
    return [
        {"$unionWith": {"coll": name, "pipeline": pipeline}}
        for name in (USERS.name, blocks.BLOCKS.name)
    ]


def find(database: Database[Document], user_id: str) -> PublicUser:
    """Return a user's name, profile and counts; raises UnknownUser."""
    user = USERS.of(database).find_one({"_id": user_id}, _PROFILE)
    if user is None:
        raise UnknownUser
    return user


def name_of(database: Database[Document], user_id: str) -> str | None:
    """Return a user's name. None: an unknown user."""
    user = USERS.of(database).find_one({"_id": user_id}, {"name": 1})
    return user and user["name"]


def names_of(database: Database[Document], user_ids: Iterable[str]) -> dict[str, str]:
    """Return the names of users by their ids, without unknown users."""
    rows = USERS.of(database).find({"_id": {"$in": list(user_ids)}}, {"name": 1})
    return {row["_id"]: row["name"] for row in rows}


def put(
    runtime: Runtime,
    caller: Principal,
    settings: UserSettings,
    profile_circles: dict[str, list[str]] | None,
) -> PublicUser:
    """Change the caller's name and profile, after making a missing user; return the user.

    `profile_circles` has the settings' audiences, with keys of circles in place of ids. Workers
    propagate a new name to its copies. Raises ReservedName for a name of staff, and UnknownAsset.
    """
    given = settings.model_dump(exclude_none=True, exclude={"profile_circles"})
    if settings.profile is not None:
        given["profile"] = _profile(runtime, caller, given["profile"])
    if profile_circles is not None:
        given["profile_circles"] = profile_circles
    if settings.name is not None and STAFF_ROLES.isdisjoint(caller.roles):
        _check_free(settings.name, runtime.settings.reserved_names)
    ensure(runtime, caller)
    if not given:
        return find(runtime.database, caller.id)
    return _change(runtime, caller.id, given)


def _change(runtime: Runtime, user_id: str, given: Document) -> PublicUser:
    """Set fields of a user; raises UnknownUser.

    The same transaction updates the use of pictures, and notes a job for a new name.
    """
    rename = Rename(user_id=user_id)

    def work(session: ClientSession) -> tuple[PublicUser, bool]:
        before = USERS.of(runtime.database).find_one_and_update(
            {"_id": user_id},
            {"$set": given},
            projection=_PROFILE,
            session=session,
        )
        if before is None:
            raise UnknownUser
        profile = given.get("profile", before["profile"])
        shown = [
            pictures.find_assets(picture_fields(), each) for each in (before["profile"], profile)
        ]
        pictures.change(runtime.database, session, *shown)
        name: str = given.get("name", before["name"])
        renamed = before["name"] != name
        if renamed:
            outbox.note(runtime, rename, session)
        return {
            "_id": user_id,
            "name": name,
            "profile": profile,
            "profile_circles": given.get("profile_circles", before.get("profile_circles", {})),
            "counts": before["counts"],
        }, renamed

    user, renamed = in_transaction(runtime.database, work)
    if renamed:
        runtime.queues.send(rename)
    return user


def _profile(runtime: Runtime, caller: Principal, given: Document) -> Document:
    """Return a profile in its stored form; raises UnknownAsset."""
    profile = pictures.to_references(picture_fields(), given, runtime.settings.public_url)
    pictures.check(runtime.database, pictures.find_assets(picture_fields(), profile), caller)
    return profile


def forget_profile(runtime: Runtime, user_id: str) -> None:
    """Delete a user's profile, and release its pictures."""

    def work(session: ClientSession) -> None:
        user = {"_id": user_id}
        nothing: Document = {"$set": {"profile": {}}}
        rows = USERS.of(runtime.database)
        before = rows.find_one_and_update(user, nothing, {"profile": 1}, session=session)
        if before is not None:
            held = pictures.find_assets(picture_fields(), before["profile"])
            pictures.change(runtime.database, session, held, set())

    in_transaction(runtime.database, work)


def _check_free(name: str, reserved: tuple[str, ...]) -> None:
    if is_reserved(name, reserved):
        raise ReservedName


def ensure(runtime: Runtime, caller: Principal) -> By:
    """Return the caller's id and name; make a missing user, with the token's name."""
    users = USERS.of(runtime.database)
    user = users.find_one({"_id": caller.id}, {"name": 1})
    user = user or in_transaction(runtime.database, partial(_begin, runtime, caller))
    return {"id": user["_id"], "name": user["name"]}


def _begin(runtime: Runtime, caller: Principal, session: ClientSession) -> User:
    """Return the caller's user; make a missing user, with a copy of the person's blocks."""
    had = blocks.copy(runtime, session, caller.id)
    new = _defaults(caller, runtime.now(), runtime.settings.news)
    user = USERS.of(runtime.database).find_one_and_update(
        {"_id": caller.id},
        {"$setOnInsert": {**new, **had._asdict()}},
        upsert=True,
        projection={"name": 1},
        return_document=ReturnDocument.AFTER,
        session=session,
    )
    assert user is not None  # noqa: S101 - an upsert always gives a document
    return user


def _defaults(caller: Principal, now: datetime, design: str | None = None) -> Document:
    """Return the fields of a new user with no blocks; `design`: the design of the user's news."""
    complete = {"news": EPOCH, "sent": EPOCH}
    return {
        "name": caller.name,
        "profile": {},
        "circles": {},
        "followers": {},
        "blocked": [],
        "blocked_by": [],
        "graph_store": "embedded",
        "counts": {"followers": 0, "following": 0, "circles": 0, "memberships": 0},
        "last_seen": now,
        "away": False,
        "pulled": False,
        "stale": False,
        "complete_since": complete if design is None else {"design": design, **complete},
        # The previous release reads this field.
        "trimmed": False,
    }
