"""People in the activity feed: their places in the organisation, and their mutes.

`feed.person` has the present; `feed.org` has every place of a person over time, since an event has
the ties of its time (docs/decisions/0050).
"""

import itertools
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
from chalicelib.social.activity.org.places import Org, OrgPlace, PastPlace, PersonOverTime
from chalicelib.social.errors import OwnManager
from chalicelib.social.graph import users
from chalicelib.social.messages import Refill


class StoredPlace(TypedDict):
    """A person's place in the organisation from `since`, until before `until`."""

    _id: ObjectId
    user_id: str
    since: datetime
    until: datetime
    team: str | None
    department: str | None
    manager: str | None
    assigned: Annotated[list[str], AtMost(MAX_ASSIGNED)]


class StoredPerson(TypedDict):
    """A person today; `version` counts the changes that the person's feed depends on."""

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
        # The following serve the erasure of a person.
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
# The end of a present place.
OPEN = datetime(9999, 1, 1, tzinfo=UTC)

NOWHERE: OrgPlace = {"team": None, "department": None, "manager": None, "assigned": []}
# The fields of a new person.
NEW_PERSON: Document = {**NOWHERE, "muted": [], "seen": None, "version": 0}


def empty_person(user_id: str) -> StoredPerson:
    """Return a person without a place and mutes."""
    return {"_id": user_id, **NOWHERE, "muted": [], "seen": None, "version": 0}


def put(runtime: Runtime, user_id: str, settings: OrgSettings) -> OrgPlace:
    """Store a person's new place in the organisation; return the place.

    The person need not be a user yet. A worker refills the feed. Raises OwnManager.
    """
    if settings.manager_id == user_id:
        raise OwnManager
    place: OrgPlace = {
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


def _begin(runtime: Runtime, user_id: str, place: OrgPlace, session: ClientSession) -> None:
    """End the open place and begin a new place, both now.

    Of two places in one millisecond, the earlier has no duration.
    """
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
    """Update a person, or insert a missing person, and raise the `version` for the refill."""
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
    """Return a person as of today; an empty person for an unknown id."""
    person = PEOPLE.of(database).find_one({"_id": user_id}, session=session)
    return person or empty_person(user_id)


def find_muting(
    database: Database[Document], actor_id: str, reader_ids: Some[str]
) -> frozenset[str]:
    """Return the readers among these who mute an actor."""
    where = {"_id": {"$in": list(reader_ids)}, "muted": actor_id}
    return frozenset(row["_id"] for row in PEOPLE.of(database).find(where, {"_id": 1}))


class Viewpoint(NamedTuple):
    """A reader's present place, and the actors with a block with the reader."""

    org: Org
    blocked: frozenset[str]


def viewpoint(database: Database[Document], reader_id: str, actor_ids: Some[str]) -> Viewpoint:
    """Return a reader's place, and blocks with these actors, in one round trip."""
    me: Document = {"$match": {"_id": reader_id}}
    across = {"$setIntersection": [users.BLOCKED_EITHER_WAY, {"$literal": list(actor_ids)}]}
    blocked: list[Document] = [me, {"$project": {"_id": 0, "across": across}}]
    stages: list[Document] = [me, *users.union_of_blocks(blocked)]
    rows = list(database[PEOPLE.name].aggregate(stages))
    org = next((Org.of(place_of(row)) for row in rows if "muted" in row), Org())
    across_block = itertools.chain.from_iterable(row.get("across", ()) for row in rows)
    return Viewpoint(org, frozenset(across_block))


def place_of(row: Mapping[str, Any]) -> OrgPlace:
    """Return the fields of a place in a stored person, or in another row."""
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
    """Return people, by id, with their places from the first to the last of `times`.

    `times` is not empty. A place's `assigned` has only ids in `refs`: a call may read thousands
    of people, each with many places and up to `MAX_ASSIGNED` refs.
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
