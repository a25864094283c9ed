"""Claims: an account takes the past of a guest of the site, or of an imported person there.

A guest's token proves the guest. An account's verified address proves each guest who has confirmed
it, and each imported person whose file has it.

One transaction marks the person as taken, gives their standing to the account, and notes the job
that carries their comments and marks (`chalicelib.comments.joining`). So only one account takes a
person, and a ban goes with them. The document of the person stays: it names the account, and
the token of a taken guest writes nothing any more.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

from pymongo import ASCENDING
from pymongo.client_session import ClientSession

from chalicelib.comments.errors import PersonTaken
from chalicelib.comments.people.links import CONFIRMATIONS
from chalicelib.comments.people.rows import (
    MAX_BLOCKED,
    PEOPLE,
    Person,
    PersonCounts,
    harshness_of,
    new_person,
    person_id,
    taken_key,
)
from chalicelib.comments.shapes import MAX_BADGES, MAX_NOTE_CHARACTERS
from chalicelib.database import Document, in_transaction
from chalicelib.errors import Unavailable
from chalicelib.identity import Principal
from chalicelib.jobs import outbox
from chalicelib.mail import addressing
from chalicelib.people.ids import CLAIMED_PATTERN, ISSUED_ID
from chalicelib.people.jobs import Erase, EraseLate, Join
from chalicelib.runtime import Runtime

# The most people that one call takes by a verified address.
MOST_AT_ONCE = 20


class Claimed(NamedTuple):
    """A person whose past an account can take, with the name that they had."""

    id: str
    name: str


def find_claimable(runtime: Runtime, site: str, caller: Principal) -> list[Claimed]:
    """Return people of a site whom an account's verified address proves, without taken people.

    A guest, who has no account, gets an empty list.
    """
    keys = [] if caller.is_guest else verified_keys(runtime, site, caller)
    if not keys:
        return []
    same: Document = {"email_key": {"$in": keys}, "site": site, "joined": None}
    where = {**same, "user_id": {"$regex": CLAIMED_PATTERN}}
    rows = PEOPLE.of(runtime.database).find(where, {"user_id": 1, "name": 1})
    found = rows.sort("_id", ASCENDING).limit(MOST_AT_ONCE)
    return [Claimed(row["user_id"], row["name"]) for row in found]


def claim(runtime: Runtime, site: str, caller: Principal, people: Iterable[Claimed]) -> None:
    """Give an account the pasts of these people of a site; a repeat changes nothing.

    Pass only people whose proof you have checked. Raises PersonTaken for a person of another
    account; the people before that person are taken then. Raises Unavailable during an erasure.
    """
    keys = verified_keys(runtime, site, caller)
    for each in people:
        if _take(runtime, site, caller, each, keys):
            runtime.queues.send(Join(site=site, person_id=each.id))


def follow(runtime: Runtime, site: str, user_ids: Sequence[str]) -> None:
    """Note jobs that carry new comments of the claimed people of a site among these."""
    if not user_ids:
        return
    keys = {"_id": {"$in": [person_id(site, each) for each in user_ids]}}
    taken = {**keys, "joined": {"$exists": True}}
    for row in list(PEOPLE.of(runtime.database).find(taken, {"user_id": 1})):
        outbox.note(runtime, Join(site=site, person_id=row["user_id"]), due=runtime.now())


def verified_keys(runtime: Runtime, site: str, caller: Principal) -> list[str]:
    """Return the keyed hashes of a caller's verified address at a site; empty without one.

    The token has the address itself if the deployment or an issuer that the site trusts made the
    token. For other people, such as guests, the hashes are in their document.
    """
    if caller.site is None or ISSUED_ID.fullmatch(caller.id):
        address = addressing.ascii_form(caller.email) if caller.email else None
        keys = runtime.settings.signing_keys
        return addressing.address_keys(address, keys) if address else []
    key = {"_id": person_id(site, caller.id)}
    fields = {"email_key": 1, "email_keys": 1}
    found = PEOPLE.of(runtime.database).find_one(key, fields)
    if found is None or "email_key" not in found:
        return []
    return found.get("email_keys", [found["email_key"]])


def _take(runtime: Runtime, site: str, caller: Principal, given: Claimed, keys: list[str]) -> bool:
    """Take a person, in one transaction; return whether this call did.

    Raises PersonTaken, and Unavailable while an erasure of either has not ended.
    """
    people, now = PEOPLE.of(runtime.database), runtime.now()

    def find(user_id: str, name: str, session: ClientSession) -> Person:
        found = people.find_one({"_id": person_id(site, user_id)}, session=session)
        return found or {**new_person(site, user_id, name), "made": now}

    def work(session: ClientSession) -> bool:
        theirs, mine = (
            find(each.id, each.name, session) for each in (given, Claimed(caller.id, caller.name))
        )
        if "joined" in theirs:
            if theirs["joined"] != caller.id:
                raise PersonTaken
            return False
        _check_no_erasure(runtime, (caller.id, given.id), session)
        for row in (_mark(theirs, caller.id, keys, now), _merge(mine, theirs, now)):
            people.replace_one({"_id": row["_id"]}, row, upsert=True, session=session)
        # Their links would bring back a guest who is no more.
        links = {"person": given.id, "site": site}
        CONFIRMATIONS.of(runtime.database).delete_many(links, session=session)
        outbox.note(runtime, Join(site=site, person_id=given.id), session)
        return True

    return in_transaction(runtime.database, work)


def _check_no_erasure(runtime: Runtime, people: Sequence[str], session: ClientSession) -> None:
    """Raise Unavailable while an erasure of these people runs: it would erase the claim."""
    now = runtime.now()
    erasing = (Erase(user_id=each) for each in people)
    looking = (EraseLate(user_id=each, until=now) for each in people)
    running = outbox.filter_of(*erasing, *looking)
    if outbox.JOBS.of(runtime.database).find_one(running, {"_id": 1}, session=session):
        raise Unavailable("An erasure has not ended; try again later", retry_after_seconds=60)


def _mark(person: Person, account: str, keys: list[str], now: datetime) -> Person:
    """Return a taken person's document, which names the account, without blocks and note."""
    gone = {"blocked", "note", "recount", "release", "picture", "act"}
    kept: Any = {name: value for name, value in person.items() if name not in gone}
    # Others may take the name.
    claimed = {"joined": account, "joined_at": now, "joined_keys": keys}
    return cast("Person", {**kept, "note": "", "taken_key": "", **claimed})


def _merge(mine: Person, theirs: Person, now: datetime) -> Person:
    """Return an account's document merged with a claimed person's standing, badges and blocks."""
    made: Person = {**mine, "counts": _sum(mine["counts"], theirs["counts"])}
    made.setdefault("taken_key", taken_key(mine["user_id"], mine["name"]))
    if harshness_of(theirs, now) > harshness_of(mine, now):
        made |= {"status": theirs["status"], "until": theirs["until"]}
        if "act" in theirs:
            made["act"] = theirs["act"]
    began = [each["first_at"] for each in (mine, theirs) if each["first_at"] is not None]
    made["first_at"] = min(began, default=None)
    if paces := [each["tat"] for each in (mine, theirs) if "tat" in each]:
        made["tat"] = max(paces)
    notes = filter(None, (mine["note"], theirs["note"]))
    made["note"] = "\n".join(notes)[:MAX_NOTE_CHARACTERS]
    made["badges"] = list(dict.fromkeys([*mine["badges"], *theirs["badges"]]))[:MAX_BADGES]
    both = {mine["user_id"], theirs["user_id"]}
    blocked = {each for row in (mine, theirs) for each in row.get("blocked", ())} - both
    if blocked:
        made["blocked"] = sorted(blocked)[:MAX_BLOCKED]
    made["touched"] = now
    made.setdefault("recount", now)
    return made


def _sum(mine: PersonCounts, theirs: PersonCounts) -> PersonCounts:
    """Return the account's counts plus the person's spam and flags; entries give the others."""
    return {
        **mine,
        "spam": mine["spam"] + theirs["spam"],
        "flags_right": mine["flags_right"] + theirs["flags_right"],
        "flags_wrong": mine["flags_wrong"] + theirs["flags_wrong"],
    }
