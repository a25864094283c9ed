"""Facts for the check of a new action: its actor's place, names, and ties to its audience."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.social.activity.org import people
from chalicelib.social.activity.org.places import Org
from chalicelib.social.activity.refs import REFS
from chalicelib.social.graph import users
from chalicelib.social.graph.stores.edges import EdgeGraph


class Known(NamedTuple):
    """Stored facts of an actor, of the people that an action names, and of its audience.

    Groups for the check of the audience; they may have other people, too:

    - `existing`: users, and people with a place in the organisation
    - `blocked`: users with a block with the actor, in either direction
    - `tied`: followers of the actor, members of the actor's team or department, the actor's
      manager and reports
    """

    org: Org
    user_names: Mapping[str, str]
    ref_names: Mapping[str, str]
    existing: frozenset[str]
    blocked: frozenset[str]
    tied: frozenset[str]


def find(
    database: Database[Document],
    actor_id: str,
    user_ids: Iterable[str],
    ref_ids: Iterable[str],
    audience: Sequence[str],
) -> Known:
    """Return the facts of all of these people and refs, in one round trip.

    If the graph store `edges` has the actor's followers, an audience costs a second round trip.
    """
    named = {"_id": {"$in": sorted({*user_ids, *audience})}}
    stages: list[Document] = [
        {"$match": named},
        {"$project": {"name": 1}},
        _union("person", people.PEOPLE.name, {"_id": {"$in": [actor_id, *audience]}}, _PLACE),
    ]
    if refs := list(ref_ids):
        stages.append(_union("ref", REFS.name, {"_id": {"$in": refs}}, {"name": 1}))
    if audience:
        ties = _ties_to(audience)
        stages.append(_union("actor", users.USERS.name, {"_id": actor_id}, ties))
    rows: dict[str, list[Document]] = {"user": [], "person": [], "ref": [], "actor": []}
    found = database[users.USERS.name].aggregate(stages, batchSize=_ALL)
    for row in found:
        rows[row.pop("from", "user")].append(row)
    return _to_known(database, actor_id, audience, rows)


# More than the largest number of rows, so that all come in the first batch.
_ALL = 5_000
_UNITS = ("team", "department")
_PLACE = {"team": 1, "department": 1, "manager": 1}


def _union(name: str, collection: str, where: Document, fields: Document) -> Document:
    pipeline = [{"$match": where}, {"$project": {**fields, "from": {"$literal": name}}}]
    return {"$unionWith": {"coll": collection, "pipeline": pipeline}}


def _ties_to(audience: Sequence[str]) -> Document:
    """Return the projection of an actor to the followers and blocks among an audience."""
    among = {"$literal": list(audience)}
    followers = {"$map": {"input": {"$objectToArray": "$followers"}, "in": "$$this.k"}}
    return {
        "graph_store": 1,
        "followers": {"$setIntersection": [followers, among]},
        "blocked": {
            "$setUnion": [
                {"$setIntersection": [side, among]} for side in ("$blocked", "$blocked_by")
            ]
        },
    }


def _to_known(
    database: Database[Document],
    actor_id: str,
    audience: Sequence[str],
    rows: Mapping[str, list[Document]],
) -> Known:
    places = {row["_id"]: row for row in rows["person"]}
    place = places.get(actor_id) or {**people.NOWHERE}
    actor: dict[str, Any] = rows["actor"][0] if rows["actor"] else {}
    followers = set(actor.get("followers", ()))
    if actor.get("graph_store") == "edges":
        followers.update(EdgeGraph(database).owners_among(actor_id, list(audience)))
    user_names = {row["_id"]: row["name"] for row in rows["user"]}
    tied = {each for each in places if _has_work_tie(actor_id, place, each, places[each])}
    return Known(
        org=Org(place["team"], place["department"]),
        user_names=user_names,
        ref_names={row["_id"]: row["name"] for row in rows["ref"]},
        existing=frozenset(user_names.keys() | places.keys()),
        blocked=frozenset(actor.get("blocked", ())),
        tied=frozenset(tied | followers),
    )


def _has_work_tie(one_id: str, one: Document, other_id: str, other: Document) -> bool:
    """Return whether two people share a team or department, or are manager and report."""
    units = any(one[unit] is not None and one[unit] == other[unit] for unit in _UNITS)
    return units or one["manager"] == other_id or other["manager"] == one_id
