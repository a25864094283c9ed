"""People in the activity feed: their place in the organisation, and the people they muted.

`feed.person` has what is true today; `feed.org` has every place that somebody had, since a
tie is that of the time of an event (docs/decisions/0050).
"""

from collections.abc import Collection as Some
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple, TypedDict

from bson import ObjectId
from pymongo import ASCENDING, IndexModel
from pymongo.client_session import ClientSession
from pymongo.database import Database

from chalicelib.database import Collection, Document, in_transaction
from chalicelib.database.validators import AtMost
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social.activity.org.forms import MAX_ASSIGNED, MAX_MUTED, OrgSettings
from chalicelib.social.activity.org.places import Org, PastPlace, PersonOverTime, Place
from chalicelib.social.errors import OwnManager
from chalicelib.social.graph import users
from chalicelib.social.messages import Refill


class StoredPlace(TypedDict):
    """A place in the organisation that somebody has from `since`, until before `until`."""

    _id: ObjectId
    user_id: str
    since: datetime
    until: datetime
    team: str | None
    department: str | None
    manager: str | None
    assigned: Annotated[list[str], AtMost(MAX_ASSIGNED)]


class StoredPerson(TypedDict):
    """Somebody today; `version` counts the changes that their feed depends on."""

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
        # The others find a person who is to be erased.
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
# The end of a place that somebody has today.
OPEN = datetime(9999, 1, 1, tzinfo=UTC)

NOWHERE: Place = {"team": None, "department": None, "manager": None, "assigned": []}
# What is inserted of a person who has nothing yet.
NEW_PERSON: Document = {**NOWHERE, "muted": [], "seen": None, "version": 0}


def unknown(user_id: str) -> StoredPerson:
    """Return a person who has no place and has muted nobody."""
    return {"_id": user_id, **NOWHERE, "muted": [], "seen": None, "version": 0}


def put(runtime: Runtime, user_id: str, settings: OrgSettings) -> Place:
    """Give somebody a place in the organisation, instead of the one they had; return it.

    They need not be a user yet. The feed follows in the background. Raises OwnManager.
    """
    if settings.manager_id == user_id:
        raise OwnManager
    place: Place = {
        "team": settings.team,
        "department": settings.department,
        "manager": settings.manager_id,
        "assigned": settings.assigned_ref_ids,
    }
    refill = Refill(user_id=user_id)

    def work(session: ClientSession) -> bool:
        before = find(runtime.database, user_id, session)
        moved = place_of(before) != place
        if moved:
            change(runtime.database, user_id, {"$set": place}, session)
            _begin(runtime, user_id, place, session)
            outbox.note(runtime, refill, session)
        return moved

    if in_transaction(runtime.database, work):
        runtime.queues.send(refill)
    return place


def _begin(runtime: Runtime, user_id: str, place: Place, session: ClientSession) -> None:
    """Store a place from now on; of two in one millisecond, the earlier one is empty."""
    now, places = runtime.now(), PLACES.of(runtime.database)
    open_place = {"user_id": user_id, "until": OPEN}
    places.update_one(open_place, {"$set": {"until": now}}, session=session)
    new: StoredPlace = {
        "_id": ObjectId(),
        "user_id": user_id,
        "until": OPEN,
        "since": now,
        **place,
    }
    places.insert_one(new, session=session)


def change(
    database: Database[Document], user_id: str, update: Document, session: ClientSession
) -> None:
    """Change what somebody's feed depends on, making the person if there is none."""
    update = {**update, "$inc": {"version": 1}}
    changed = {name for fields in update.values() for name in fields}
    missing = {name: value for name, value in NEW_PERSON.items() if name not in changed}
    PEOPLE.of(database).update_one(
        {"_id": user_id},
        {**update, "$setOnInsert": missing},
        upsert=True,
        session=session,
    )


def find(
    database: Database[Document], user_id: str, session: ClientSession | None = None
) -> StoredPerson:
    """Return somebody as they are today; an empty person if nothing is known of them."""
    person = PEOPLE.of(database).find_one({"_id": user_id}, session=session)
    return person or unknown(user_id)


class Viewpoint(NamedTuple):
    """A reader's place of today, and the actors with whom the reader has a block."""

    org: Org
    blocked: frozenset[str]


def viewpoint(database: Database[Document], reader_id: str, actor_ids: Some[str]) -> Viewpoint:
    """Return what decides whether a reader may see the actors' actions, in one round trip."""
    me: Document = {"$match": {"_id": reader_id}}
    across = {"$setIntersection": [users.BLOCKED_EITHER_WAY, {"$literal": list(actor_ids)}]}
    blocks: list[Document] = [me, {"$project": {"_id": 0, "across": across}}]
    stages: list[Document] = [
        me,
        {"$unionWith": {"coll": users.USERS.name, "pipeline": blocks}},
    ]
    rows = list(database[PEOPLE.name].aggregate(stages))
    org = next((Org.of(place_of(row)) for row in rows if "muted" in row), Org())
    across_block: list[str] = next((row["across"] for row in rows if "across" in row), [])
    return Viewpoint(org, frozenset(across_block))


def place_of(row: Mapping[str, Any]) -> Place:
    """Return the place in a person, or in a row of an aggregation."""
    return {
        "team": row["team"],
        "department": row["department"],
        "manager": row["manager"],
        "assigned": row["assigned"],
    }


def histories(
    database: Database[Document],
    user_ids: Some[str],
    refs: Some[str],
    times: Some[datetime],
) -> dict[str, PersonOverTime]:
    """Return each of the people with the places they had from the first to the last of `times`.

    The places have only those assigned refs that are among `refs`: thousands of people are read
    at once, each with up to `MAX_ASSIGNED` refs, and may have had many places.
    """
    where: Document = {
        "user_id": {"$in": list(user_ids)},
        "until": {"$gt": min(times)},
        "since": {"$lte": max(times)},
    }
    found: dict[str, list[PastPlace]] = {user_id: [] for user_id in user_ids}
    assigned = {"$setIntersection": ["$assigned", {"$literal": list(refs)}]}
    fields = dict.fromkeys(("user_id", "since", "until", "team", "department", "manager"), 1)
    rows = PLACES.of(database).find(where, {"_id": 0, **fields, "assigned": assigned})
    for place in rows:
        found[place["user_id"]].append(place)
    return {user_id: PersonOverTime(user_id, places) for user_id, places in found.items()}
