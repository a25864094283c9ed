"""People as the activity feed knows them: their place in the organisation, whom they muted.

`feed.person` has what is true today; `feed.org` has every place that somebody had, since a
tie is that of the time of an event (docs/decisions/0050).
"""

from collections.abc import Collection as Some
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple, TypedDict

from bson import ObjectId
from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.collection import Collection as MongoCollection
from pymongo.database import Database

from chalicelib.database import Collection, Document, in_transaction
from chalicelib.database.validators import AtMost
from chalicelib.runtime import Runtime
from chalicelib.social import outbox
from chalicelib.social.activity.org.models import MAX_ASSIGNED, OrgSettings
from chalicelib.social.activity.org.places import Org, PersonOverTime
from chalicelib.social.errors import OwnManager
from chalicelib.social.graph import users
from chalicelib.social.messages import Refill

MAX_MUTED = 1_000


class StoredPlace(TypedDict):
    """A place in the organisation that somebody has from `since`, and before `until`."""

    _id: ObjectId
    user_id: str
    since: datetime
    until: datetime
    team: str | None
    department: str | None
    manager: str | None
    assigned: Annotated[list[str], AtMost(MAX_ASSIGNED)]


class StoredPerson(TypedDict):
    """Somebody today; `version` counts the changes of what the feed is made by."""

    _id: str
    team: str | None
    department: str | None
    manager: str | None
    assigned: Annotated[list[str], AtMost(MAX_ASSIGNED)]
    muted: Annotated[list[str], AtMost(MAX_MUTED)]
    seen: datetime | None
    version: int


PEOPLE = Collection(
    "feed.person",
    StoredPerson,
    indexes=(
        IndexModel([("team", ASCENDING), ("_id", ASCENDING)]),
        IndexModel([("department", ASCENDING), ("_id", ASCENDING)]),
        # The others find somebody who is to be erased.
        IndexModel([("manager", ASCENDING)]),
        IndexModel([("assigned", ASCENDING)]),
        IndexModel([("muted", ASCENDING)]),
    ),
    shard_key={"_id": "hashed"},
)
PLACES = Collection(
    "feed.org",
    StoredPlace,
    indexes=(
        IndexModel([("user_id", ASCENDING), ("until", ASCENDING)]),
        IndexModel([("manager", ASCENDING)]),
        IndexModel([("assigned", ASCENDING)]),
    ),
    shard_key={"user_id": 1},
)
# The end of the place that somebody has today.
OPEN = datetime(9999, 1, 1, tzinfo=UTC)

NOWHERE: Document = {"team": None, "department": None, "manager": None, "assigned": []}
NEW_PERSON: Document = {**NOWHERE, "muted": [], "seen": None, "version": 0}


def collection(database: Database[Document]) -> MongoCollection[Document]:
    """Return the collection of people as they are today."""
    return database[PEOPLE.name]


def put(runtime: Runtime, user_id: str, settings: OrgSettings) -> Document:
    """Give somebody a place in the organisation, in place of the one they had; return it.

    They need not be a user yet. The feed follows in the background. Raises OwnManager.
    """
    if settings.manager == user_id:
        raise OwnManager
    place = settings.model_dump()
    refill = Refill(user_id=user_id)

    def work(session: ClientSession) -> bool:
        before = find(runtime.database, user_id, session)
        moved = any(before[name] != value for name, value in place.items())
        if moved:
            change(runtime.database, user_id, {"$set": place}, session)
            _begin(runtime, user_id, place, session)
            outbox.note(runtime, refill, session)
        return moved

    if in_transaction(runtime.database, work):
        runtime.queues.send(refill)
    return place


def _begin(runtime: Runtime, user_id: str, place: Document, session: ClientSession) -> None:
    """Note a place from now on; two of one millisecond leave the earlier one empty."""
    now, places = runtime.now(), runtime.database[PLACES.name]
    open_place = {"user_id": user_id, "until": OPEN}
    places.update_one(open_place, {"$set": {"until": now}}, session=session)
    places.insert_one({**open_place, "since": now, **place}, session=session)


def change(
    database: Database[Document], user_id: str, update: Document, session: ClientSession
) -> None:
    """Change what somebody's feed is made by, making the person where there is none."""
    update = {**update, "$inc": {"version": 1}}
    changed = {name for fields in update.values() for name in fields}
    missing = {name: value for name, value in NEW_PERSON.items() if name not in changed}
    collection(database).update_one(
        {"_id": user_id},
        {**update, "$setOnInsert": missing},
        upsert=True,
        session=session,
    )


def find(
    database: Database[Document], user_id: str, session: ClientSession | None = None
) -> Document:
    """Return somebody as they are today; of whom nothing is known, an empty person."""
    person = collection(database).find_one({"_id": user_id}, session=session)
    return person or {"_id": user_id, **NEW_PERSON}


class Viewpoint(NamedTuple):
    """A reader's place of today, and who of some actors is across a block with the reader."""

    org: Org
    blocked: frozenset[str]


def viewpoint(database: Database[Document], reader_id: str, actor_ids: Some[str]) -> Viewpoint:
    """Return what decides whether a reader may see the actions of these, in one round trip."""
    me: Document = {"$match": {"_id": reader_id}}
    across = {"$setIntersection": [users.BLOCKED_EITHER_WAY, {"$literal": list(actor_ids)}]}
    blocks: list[Document] = [me, {"$project": {"_id": 0, "across": across}}]
    stages: list[Document] = [
        me,
        {"$unionWith": {"coll": users.USERS.name, "pipeline": blocks}},
    ]
    rows = list(collection(database).aggregate(stages))
    person = next((row for row in rows if "muted" in row), NEW_PERSON)
    across_block: list[str] = next((row["across"] for row in rows if "across" in row), [])
    return Viewpoint(Org.of(person), frozenset(across_block))


def histories(
    database: Database[Document],
    user_ids: Some[str],
    refs: Some[str],
    times: Some[datetime],
) -> dict[str, PersonOverTime]:
    """Return each of the people with the places they had from the first to the last of `times`.

    Of what was assigned to them the places have only what is among `refs`: thousands of people
    are read at once, each with up to `MAX_ASSIGNED` of these, and may have had many places.
    """
    where: Document = {
        "user_id": {"$in": list(user_ids)},
        "until": {"$gt": min(times)},
        "since": {"$lte": max(times)},
    }
    found: dict[str, list[Any]] = {user_id: [] for user_id in user_ids}
    assigned = {"$setIntersection": ["$assigned", {"$literal": list(refs)}]}
    fields = dict.fromkeys(("user_id", "since", "until", "team", "department", "manager"), 1)
    rows = database[PLACES.name].find(where, {"_id": 0, **fields, "assigned": assigned})
    for place in rows:
        found[place["user_id"]].append(place)
    return {user_id: PersonOverTime(user_id, places) for user_id, places in found.items()}
