"""Admitting a person to post: one find-and-update counts the limit and reads their standing.

The update decides by itself and returns the document as it was, from which the same is decided
here. If it refuses, it sets every field to what it was, and the server writes nothing.
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
    trust_of,
)
from chalicelib.comments.shapes import Author, PostLimit
from chalicelib.comments.sites import settings
from chalicelib.database import Document
from chalicelib.errors import TooFast
from chalicelib.identity import Principal
from chalicelib.limits import Allowance, scaled
from chalicelib.runtime import Runtime
from chalicelib.sites.permissions import manages, moderates, owns

_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Admitted:
    """A person who may post at a site, as they were known before."""

    person: Person
    trust: Trust
    is_shadowed: bool


def admit(runtime: Runtime, site: str, author: Principal) -> Admitted | None:
    """Count a post against the author's limit at a site; None if the site does not know them.

    Staff of the site has no status and the limit of who is long known; an admin has none. Raises
    Suspended, Banned, and TooFast; nothing is written then.
    """
    return _Post(runtime, site, author).count(makes=False)


def admit_first(runtime: Runtime, site: str, author: Principal) -> Admitted:
    """Count a post of somebody as `admit` does, and make their document if there is none."""
    admitted = _Post(runtime, site, author).count(makes=True)
    return admitted or Admitted(new_person(site, author.id, author.name), 0, is_shadowed=False)


def check(runtime: Runtime, site: str, author: Principal) -> None:
    """Raise what `admit` would raise now, and count nothing.

    Asked before the post is counted for its author's address: whoever is refused takes nothing of
    what others at the address may post.
    """
    found = PEOPLE.of(runtime.database).find_one({"_id": person_id(site, author.id)})
    if found is not None:
        _Post(runtime, site, author).decided(found)


def standing_of(runtime: Runtime, site: str, author: Principal) -> Admitted:
    """Return who may write at a site now, without a post; raises Suspended and Banned."""
    found = PEOPLE.of(runtime.database).find_one({"_id": person_id(site, author.id)})
    if found is None:
        return Admitted(new_person(site, author.id, author.name), 0, is_shadowed=False)
    is_staff = manages(author, site)
    if not is_staff:
        _check_status(found, runtime.now())
    trust = trust_of(found, runtime.now())
    return Admitted(found, trust, found["status"] == "shadowed" and not is_staff)


def check_may_write(runtime: Runtime, site: str, caller: Principal) -> None:
    """Raise Suspended or Banned for a person whom the site lets write nothing; staff is exempt."""
    if manages(caller, site):
        return
    fields = {"status": 1, "until": 1}
    found = PEOPLE.of(runtime.database).find_one({"_id": person_id(site, caller.id)}, fields)
    if found is not None:
        _check_status(found, runtime.now())


def author_of(author: Principal, admitted: Admitted) -> Author:
    """Return the author of a comment, with their badges and role of now."""
    site, badges = admitted.person["site"], admitted.person["badges"]
    made: Author = {"id": author.id, "name": author.name}
    if badges:
        made["badges"] = badges
    if moderates(author, site):
        made["role"] = "moderator"
    elif owns(author, site):
        made["role"] = "publisher"
    return made


class _Post:
    """A post that somebody is about to make at a site."""

    def __init__(self, runtime: Runtime, site: str, author: Principal) -> None:
        self._site, self._author = site, author
        self._is_staff = manages(author, site)
        # Losing a count in an election is no harm; waiting for a majority at every post would be.
        rows = PEOPLE.of(runtime.database)
        self._rows = rows.with_options(write_concern=WriteConcern(1))
        self._now = runtime.now()
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
        return None if before is None else self.decided(before)

    def decided(self, before: Person) -> Admitted:
        """Decide as the update has; raises Suspended, Banned and TooFast."""
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
        """Return the fields that the update sets: what they were, if it refuses."""
        named = {"name": {"$literal": self._author.name}, "first_at": self._first_at()}
        noted = {"touched": self._now, "recount": {"$ifNull": ["$recount", self._now]}}
        named["picture"] = {"$literal": self._author.picture}
        changed: Document = {**named, **noted, **self._moved()}
        allowed = self._is_allowed()
        decided = {
            field: {"$cond": [allowed, value, f"${field}"]} for field, value in changed.items()
        }
        made = defaults(self._site, self._author.id, self._author.name)
        return {**made, **decided}

    def _first_at(self) -> Document:
        return {"$ifNull": ["$first_at", self._now]}

    def _moved(self) -> Document:
        if not self._allowances:
            return {}
        every = [each.every // _MILLISECOND for each in self._allowances]
        after: Document = {"$max": ["$tat", self._now]}
        return {"tat": {"$add": [after, by_trust(every, self._now)]}}

    def _is_allowed(self) -> Document:
        rules: list[Document] = []
        if not self._is_staff:
            rules.append(may_write_expression(self._now))
        if self._allowances:
            latest = [each.latest(self._now) for each in self._allowances]
            # A missing `tat` is less than every date.
            rules.append({"$lte": ["$tat", by_trust(latest, self._now)]})
        return {"$and": rules}


def _check_status(person: Person, now: datetime) -> None:
    match status_of(person, now):
        case "banned":
            raise Banned
        case "suspended":
            raise Suspended(person["until"])
        case _:
            return


def _allowance(limit: PostLimit, factor: float) -> Allowance:
    every = timedelta(seconds=limit["every_seconds"])
    return scaled("posts", limit["burst"], every, factor)
