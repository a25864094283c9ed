"""Confirmation of a guest's address by the link in a letter.

A crash between two writes leaves either a link that still works, or comments that `sweep` releases.
A post that runs during the confirmation may leave a waiting comment. `sweep` looks for it later,
when no such post can still be running.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from chalicelib.comments.errors import UnknownLink
from chalicelib.comments.people.links import CONFIRMATIONS, Confirmation, token_hash
from chalicelib.comments.people.rows import (
    PEOPLE,
    Person,
    defaults,
    harshness_of,
    new_person,
    person_id,
    status_of,
)
from chalicelib.comments.writing import releasing
from chalicelib.database import Document, upsert
from chalicelib.jobs.sweeping import Sweep
from chalicelib.people.ids import IMPORTED_ID
from chalicelib.people.names import lookalike_key
from chalicelib.runtime import LONGEST_RUN, Runtime

_AT_ONCE = 200
_SWEEP = Sweep(PEOPLE, "release", after=LONGEST_RUN)


def find(runtime: Runtime, site: str, token: str) -> Confirmation:
    """Return the link of a token without using it up; raises UnknownLink."""
    where = _valid(site, token, runtime.now())
    found = CONFIRMATIONS.of(runtime.database).find_one(where)
    if found is None:
        raise UnknownLink
    return found


def confirm(runtime: Runtime, site: str, token: str) -> Confirmation:
    """Confirm the address of a link, use the link up, and release the guest's waiting comments.

    Raises UnknownLink; of two concurrent calls, the later raises.
    """
    found = find(runtime, site, token)
    # Before the deletion of the link: after a crash between the two, the link still works.
    _note(runtime, found)
    where = _valid(site, token, runtime.now())
    if CONFIRMATIONS.of(runtime.database).find_one_and_delete(where) is None:
        raise UnknownLink
    person = PEOPLE.of(runtime.database).find_one({"_id": person_id(site, found["person"])})
    if person is not None:
        releasing.release(runtime, person)
    return found


def _valid(site: str, token: str, now: datetime) -> Document:
    """Return the filter of an unexpired link; the TTL index removes expired links a minute late."""
    expires, is_link = {"expires": {"$gt": now}}, {"kind": {"$nin": ["code", "account"]}}
    return {"_id": token_hash(token), "site": site, **expires, **is_link}


def _note(runtime: Runtime, found: Confirmation) -> None:
    """Upsert a guest with a confirmed address; a harsher sanction of the address carries over."""
    site, name = found["site"], found["name"]
    said = {"email_key": found["email_key"], "taken_key": lookalike_key(name)}
    fields: Document = {each: {"$literal": value} for each, value in said.items()}
    fields["release"] = runtime.now()
    fields["confirmed_at"] = {"$ifNull": ["$confirmed_at", runtime.now()]}
    former = find_sanctioned(runtime, site, found.get("email_keys", [found["email_key"]]))
    made = defaults(site, found["person"], name, runtime.now())
    key = {"_id": person_id(site, found["person"])}
    if former is not None:
        own = PEOPLE.of(runtime.database).find_one(key) or new_person(site, found["person"], name)
        if harshness_of(former, runtime.now()) > harshness_of(own, runtime.now()):
            fields |= _unless_changed(own, former)
    upsert(PEOPLE.of(runtime.database), key, [{"$set": made}, {"$set": fields}])


def _unless_changed(own: Mapping[str, Any], former: Mapping[str, Any]) -> Document:
    """Return expressions that set the former standing unless a moderator has changed `own`."""
    fields = ("status", "until")
    is_same = {"$and": [{"$eq": [f"${each}", own[each]]} for each in fields]}
    return {each: {"$cond": [is_same, {"$literal": former[each]}, f"${each}"]} for each in fields}


def find_sanctioned(runtime: Runtime, site: str, email_keys: Sequence[str]) -> Person | None:
    """Return the person of an address with the harshest sanction; None: no person has one.

    So a ban outlasts a new name, and a rotation of keys: `email_keys` are hashes by all keys. In
    place of a claimed guest, the account counts. An address in an imported file proves nothing.
    """
    held: list[Person] = []
    now = runtime.now()
    people = PEOPLE.of(runtime.database)
    unlike: list[Document] = [{"status": {"$ne": "ok"}}, {"joined": {"$exists": True}}]
    same = {"email_key": {"$in": list(email_keys)}, "site": site, "$or": unlike}
    for each in people.find(same):
        found: Person | None = each
        if "joined" in each:
            found = people.find_one({"_id": person_id(site, each["joined"])})
        elif IMPORTED_ID.fullmatch(each["user_id"]):
            found = None
        if found is not None and status_of(found, now) != "ok":
            held.append(found)
    return max(held, key=lambda each: harshness_of(each, now), default=None)


def sweep(runtime: Runtime) -> int:
    """Release comments that earlier confirmations have left waiting; return their number."""
    released = 0
    for person in _SWEEP.find(runtime, _AT_ONCE):
        found = releasing.release(runtime, person)
        released += found.number
        if not found.number:
            as_read = {"_id": person["_id"], "release": person["release"]}
            # If a comment still waits, move the person behind the others.
            later: Document = {"$set": {"release": runtime.now()}}
            change = {"$unset": {"release": ""}} if found.is_whole else later
            PEOPLE.of(runtime.database).update_one(as_read, change)
    return released
