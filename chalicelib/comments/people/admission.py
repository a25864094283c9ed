"""Admission of a person to post: one find-and-update counts the limit and reads their standing.

The update decides on the server and returns the former document; the same decision is then made
here. If the update refuses, it sets every field to its former value, and the server writes nothing.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from pymongo import ReturnDocument, WriteConcern

from chalicelib.comments.errors import Banned, Suspended
from chalicelib.comments.people.rows import (
    PEOPLE,
    Person,
    Trust,
    by_trust,
    defaults,
    may_write_expression,
    new_person,
    person_id,
    status_of,
    taken_key_expression,
    trust_of,
)
from chalicelib.comments.shapes import MAX_BADGES, Author, PostLimit
from chalicelib.comments.sites import settings
from chalicelib.database import Document
from chalicelib.errors import TooFast, Unauthenticated
from chalicelib.identity import Principal
from chalicelib.limits import Allowance, scale
from chalicelib.mail import addressing
from chalicelib.people.ids import ISSUED_ID
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import manages, moderates, owns

_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Admitted:
    """A person who may post at a site, with their document before the post."""

    person: Person
    trust: Trust
    is_shadowed: bool


def admit(runtime: Runtime, site: str, author: Principal) -> Admitted | None:
    """Count a post against the author's limit at a site; None: the site does not know them.

    Staff of the site has no status and the limit of long known people; an admin has no limit.
    Raises Suspended, Banned, and TooFast, and writes nothing then.
    """
    return _Post(runtime, site, author).count(makes=False)


def admit_first(runtime: Runtime, site: str, author: Principal) -> Admitted:
    """Count a post as `admit` does, and make the author's document if there is none."""
    admitted = _Post(runtime, site, author).count(makes=True)
    return admitted or Admitted(new_person(site, author.id, author.name), 0, is_shadowed=False)


def check(runtime: Runtime, site: str, author: Principal) -> None:
    """Raise the error that `admit` would raise now, and count nothing.

    Call it before counting the post for its author's address: a refused author must not use up the
    allowance of other people at the address.
    """
    found = PEOPLE.of(runtime.database).find_one({"_id": person_id(site, author.id)})
    if found is not None:
        _Post(runtime, site, author).decide(found)


def standing_of(runtime: Runtime, site: str, author: Principal) -> Admitted:
    """Return a person's admission to write now, without a post; raises Suspended and Banned."""
    found = PEOPLE.of(runtime.database).find_one({"_id": person_id(site, author.id)})
    if found is None:
        return Admitted(new_person(site, author.id, author.name), 0, is_shadowed=False)
    is_staff = manages(author, site)
    if not is_staff:
        _check_status(found, runtime.now())
    trust = trust_of(found, runtime.now())
    return Admitted(found, trust, found["status"] == "shadowed" and not is_staff)


# The fields of a person that `check_may_write` reads.
STANDING = ("status", "until", "joined")


def check_may_write(person: Person | None, site: str, caller: Principal, now: datetime) -> bool:
    """Return whether a site shadows a caller by their document there; never its staff.

    Raises Suspended, Banned or Unauthenticated for a person who may not write there.
    """
    if person is None or manages(caller, site):
        return False
    _check_status(person, now)
    return person["status"] == "shadowed"


def author_of(author: Principal, admitted: Admitted) -> Author:
    """Return the author of a comment, with their present badges and role."""
    site, given = admitted.person["site"], admitted.person["badges"]
    # Those of the site's moderators go first.
    badges = list(dict.fromkeys([*given, *author.badges]))[:MAX_BADGES]
    made: Author = {"id": author.id, "name": author.name}
    if badges:
        made["badges"] = badges
    if owns(author, site) and not author.has("moderator", "admin"):
        made["role"] = "publisher"
    elif moderates(author, site):
        made["role"] = "moderator"
    return made


class _Post:
    """A post that an author is about to make at a site."""

    def __init__(self, runtime: Runtime, site: str, author: Principal) -> None:
        self._site, self._author = site, author
        self._is_staff = manages(author, site)
        # A count lost in an election does no harm; a wait for the majority at every post would.
        rows = PEOPLE.of(runtime.database)
        self._rows = rows.with_options(write_concern=WriteConcern(1))
        self._now, self._signing_keys = runtime.now(), runtime.settings.signing_keys
        factor = runtime.settings.limits
        is_limited = factor is not None and not author.has("admin")
        limits = settings.of(runtime, site)["limits"]["posts"] if is_limited else []
        if self._is_staff:
            limits = limits[-1:] * len(limits)
        self._allowances = [_allowance(each, factor or 1) for each in limits]

    def count(self, *, makes: bool) -> Admitted | None:
        before = self._rows.find_one_and_update(
            {"_id": person_id(self._site, self._author.id)},
            [{"$set": self._fields()}],
            upsert=makes,
            return_document=ReturnDocument.BEFORE,
        )
        return None if before is None else self.decide(before)

    def decide(self, before: Person) -> Admitted:
        """Decide as the update does; raises Suspended, Banned and TooFast."""
        if not self._is_staff:
            _check_status(before, self._now)
        trust = trust_of(before, self._now)
        tat = before.get("tat")
        if self._allowances and tat is not None:
            waiting = tat - self._allowances[trust].latest(self._now)
            if waiting > timedelta(0):
                raise TooFast(retry_after_seconds=math.ceil(waiting.total_seconds()))
        is_shadowed = before["status"] == "shadowed" and not self._is_staff
        return Admitted(before, trust, is_shadowed)

    def _fields(self) -> Document:
        """Return the fields that the update sets: their former values, if it refuses."""
        named = {"name": {"$literal": self._author.name}, "first_at": self._first_at()}
        noted = {"touched": self._now, "recount": {"$ifNull": ["$recount", self._now]}}
        named["picture"] = {"$literal": self._author.picture}
        named["taken_key"] = taken_key_expression(self._author.id, self._author.name)
        changed: Document = {**named, **noted, **self._address(), **self._next_tat()}
        allowed = self._may_post()
        decided = {
            field: {"$cond": [allowed, value, f"${field}"]} for field, value in changed.items()
        }
        made = defaults(self._site, self._author.id, self._author.name)
        return {**made, **decided}

    def _address(self) -> Document:
        """Return the key of the address that the author's issuer vouches for; any other stays."""
        author = self._author
        if not ISSUED_ID.fullmatch(author.id):
            return {}
        address = addressing.ascii_form(author.email) if author.email else None
        keys = addressing.address_keys(address, self._signing_keys) if address else []
        return {"email_key": {"$literal": keys[0]} if keys else "$$REMOVE"}

    def _first_at(self) -> Document:
        return {"$ifNull": ["$first_at", self._now]}

    def _next_tat(self) -> Document:
        if not self._allowances:
            return {}
        every = [each.every // _MILLISECOND for each in self._allowances]
        after: Document = {"$max": ["$tat", self._now]}
        return {"tat": {"$add": [after, by_trust(every, self._now)]}}

    def _may_post(self) -> Document:
        rules: list[Document] = []
        if not self._is_staff:
            rules.append(may_write_expression(self._now))
        if self._allowances:
            latest = [each.latest(self._now) for each in self._allowances]
            # A missing `tat` is less than every date.
            rules.append({"$lte": ["$tat", by_trust(latest, self._now)]})
        return {"$and": rules}


def check_not_joined(person: Person) -> None:
    """Raise Unauthenticated for a guest whose past an account has: their token is over."""
    if "joined" in person:
        raise Unauthenticated("An account has the past of this guest; sign in by it")


def _check_status(person: Person, now: datetime) -> None:
    check_not_joined(person)
    match status_of(person, now):
        case "banned":
            raise Banned
        case "suspended":
            raise Suspended(person["until"])
        case _:
            return


def _allowance(limit: PostLimit, factor: float) -> Allowance:
    every = timedelta(seconds=limit["every_seconds"])
    return scale("posts", limit["burst"], every, factor)
