"""Reading and changing a person's document at a site, for moderators."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, cast

from pymongo import ReturnDocument
from pymongo.database import Database
from pymongo.errors import DuplicateKeyError

from chalicelib.comments.errors import PersonChanged
from chalicelib.comments.log import acts
from chalicelib.comments.log.acts import ActChange, Actor, ActSubject
from chalicelib.comments.people.rows import (
    PEOPLE,
    Person,
    Status,
    defaults,
    new_person,
    person_id,
    status_of,
)
from chalicelib.database import Document
from chalicelib.errors import Unavailable
from chalicelib.runtime import Runtime


def find(database: Database[Document], site: str, user_id: str) -> Person:
    """Return a person at a site; without a stored document, a new person."""
    found = PEOPLE.of(database).find_one({"_id": person_id(site, user_id)})
    return found or new_person(site, user_id, user_id)


class ShownStatus(NamedTuple):
    """A person's status and the end of a suspension, as a moderator read them."""

    status: Status
    until: datetime | None


class PersonDecision(NamedTuple):
    """The fields that a moderator sets of a person whose status they read."""

    fields: Mapping[str, Any]
    as_shown: ShownStatus


def decide(
    runtime: Runtime, site: str, user_id: str, wanted: PersonDecision, actor: Actor
) -> Person:
    """Set fields of a person as `change`, unless another moderator has decided meanwhile.

    Raises PersonChanged and Unavailable.
    """
    found, now = find(runtime.database, site, user_id), runtime.now()
    if shown_status(found, now) != wanted.as_shown:
        raise _changed(found, now)
    by_act = ActChange({"act": found.get("act")}, wanted.fields)
    try:
        return change(runtime, site, user_id, by_act, actor)
    except acts.NotDone:
        raise _changed(find(runtime.database, site, user_id), now) from None


def shown_status(person: Mapping[str, Any], now: datetime) -> ShownStatus:
    """Return a person's status now; `until` is None unless they are suspended."""
    status = status_of(person, now)
    return ShownStatus(status, person["until"] if status == "suspended" else None)


def _changed(person: Mapping[str, Any], now: datetime) -> PersonChanged:
    return PersonChanged(facts=shown_status(person, now)._asdict())


def change(runtime: Runtime, site: str, user_id: str, wanted: ActChange, actor: Actor) -> Person:
    """Set fields of a person at a site as its moderator, log it, and return the person afterwards.

    In place of a claimed person, the account changes: it has the person's past. With
    `wanted.before`: raises NotDone if the fields no longer have these values. Raises Unavailable
    if an account claims the person meanwhile.
    """
    fields = wanted.after
    found = find(runtime.database, site, user_id)
    if "joined" in found:
        found = find(runtime.database, site, found["joined"])
    who = found["user_id"]
    thing = ActSubject(site, None, None, who, found["name"], found.get("act"))
    noted = ActChange(_only(found, fields), fields)
    with acts.noting(runtime, actor, "person", thing, noted) as act:
        was = store(runtime, site, who, {**fields, "act": act.id}, wanted.before)
        act.before = _only(was, fields)
    return cast("Person", {**was, **fields})


def store(
    runtime: Runtime,
    site: str,
    user_id: str,
    fields: Mapping[str, Any],
    still: Mapping[str, Any] | None = None,
) -> Person:
    """Set fields of a person and return the former person; raises Unavailable for a claimed one.

    `still`: raises NotDone if the fields no longer have these values; None: no condition.
    """
    # Nobody has decided on a person without an act, and perhaps nobody knows them.
    is_new = still is None or still == {"act": None}
    said = {name: {"$literal": value} for name, value in fields.items()}
    made = defaults(site, user_id, user_id, runtime.now())
    this = {"_id": person_id(site, user_id), "joined": {"$exists": False}, **(still or {})}
    try:
        before = PEOPLE.of(runtime.database).find_one_and_update(
            this,
            [{"$set": {**made, **said}}],
            upsert=is_new,
            return_document=ReturnDocument.BEFORE,
        )
    except DuplicateKeyError:
        raise Unavailable("This person's past becomes an account's") from None
    if before is None and not is_new:
        raise acts.NotDone
    return before or new_person(site, user_id, user_id)


def _only(person: Person, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in person.items() if name in fields}
