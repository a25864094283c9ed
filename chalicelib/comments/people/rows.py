"""The document of a person at a site: made when they first post, or when a moderator acts."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel

from chalicelib.comments.shapes import MAX_BADGES
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost

# `shadowed`: what they write is seen by themselves and by moderators, and they are not told.
Status = Literal["ok", "shadowed", "suspended", "banned"]
MAX_BLOCKED = 1_000


class PersonCounts(TypedDict):
    """How many of a person's comments are in which state, and how often their flags were right."""

    visible: int
    pending: int
    rejected: int
    spam: int
    flags_right: int
    flags_wrong: int


class Person(TypedDict):
    """What a site knows of a person; `_id` is `{site}/{user}`.

    `until` is the end of a suspension. `first_at` is when they first posted, and `tat` the
    theoretical arrival time of their next post (`chalicelib.limits`). `note` is what moderators
    tell each other, and `act` what one of them last did here (`chalicelib.comments.log`). The
    counts may be behind since `recount`; `touched` is when something last began that they have to
    follow, and `recounts` tells recounts at once apart.
    """

    _id: str
    site: str
    user_id: str
    name: str
    status: Status
    until: datetime | None
    counts: PersonCounts
    first_at: datetime | None
    tat: NotRequired[datetime]
    touched: NotRequired[datetime]
    recount: NotRequired[datetime]
    recounts: NotRequired[int]
    badges: Annotated[list[str], AtMost(MAX_BADGES)]
    note: str
    picture: NotRequired[str | None]
    blocked: NotRequired[Annotated[list[str], AtMost(MAX_BLOCKED)]]
    act: NotRequired[str]


PEOPLE = Collection(
    "comments.person",
    Person,
    indexes=(
        # Finds those of somebody who is renamed or erased.
        IndexModel([("user_id", ASCENDING)]),
        # Finds who has blocked somebody that is erased.
        IndexModel("blocked", sparse=True),
        IndexModel("recount", partialFilterExpression={"recount": {"$type": "date"}}),
    ),
    shard_key={"_id": "hashed"},
)
NO_COUNTS: PersonCounts = {
    "visible": 0,
    "pending": 0,
    "rejected": 0,
    "spam": 0,
    "flags_right": 0,
    "flags_wrong": 0,
}


def person_id(site: str, user_id: str) -> str:
    """Return the `_id` of a person at a site; neither part has a slash."""
    return f"{site}/{user_id}"


def new_person(site: str, user_id: str, name: str) -> Person:
    """Return the document of somebody of whom nothing is known yet."""
    return {
        "_id": person_id(site, user_id),
        "site": site,
        "user_id": user_id,
        "name": name,
        "status": "ok",
        "until": None,
        "counts": {**NO_COUNTS},
        "first_at": None,
        "badges": [],
        "note": "",
    }


def defaults(site: str, user_id: str, name: str) -> dict[str, Any]:
    """Return the fields of a new document, each unless it is there, for an update by stages."""
    made = new_person(site, user_id, name)
    return {
        field: {"$ifNull": [f"${field}", {"$literal": value}]}
        for field, value in made.items()
        if field != "_id"
    }


# What follows from a person's document: how far they are trusted, and what they may do now.

# 0 is new, 2 is long known.
Trust = Literal[0, 1, 2]
TRIAL = timedelta(hours=24)
APPROVED_OF_1, APPROVED_OF_2 = 3, 20
REJECTED_PERCENT_OF_2 = 5
MOST_WRONG_FLAGS = 3


def trust_of(person: Person, now: datetime) -> Trust:
    """Return how far a site trusts a person: by what was approved, and since when they post."""
    counts, first_at = person["counts"], person["first_at"]
    approved, rejected = counts["visible"], counts["rejected"] + counts["spam"]
    if first_at is None or first_at > now - TRIAL or approved < APPROVED_OF_1:
        return 0
    is_mostly_right = 100 * rejected <= REJECTED_PERCENT_OF_2 * (approved + rejected)
    return 2 if approved >= APPROVED_OF_2 and is_mostly_right else 1


def trust_expression(now: datetime) -> Document:
    """Return `trust_of` as an aggregation expression over the fields of a person."""
    approved = {"$ifNull": ["$counts.visible", 0]}
    rejected = {"$add": [{"$ifNull": [f"$counts.{name}", 0]} for name in ("rejected", "spam")]}
    share: Document = {"$multiply": [REJECTED_PERCENT_OF_2, {"$add": [approved, rejected]}]}
    # A missing date is less than any: it has to be asked for.
    is_known: Document = {
        "$and": [{"$gt": ["$first_at", None]}, {"$lte": ["$first_at", now - TRIAL]}]
    }
    is_trusted: Document = {"$and": [is_known, {"$gte": [approved, APPROVED_OF_1]}]}
    is_mostly_right: Document = {"$lte": [{"$multiply": [100, rejected]}, share]}
    is_long_known: Document = {
        "$and": [is_trusted, {"$gte": [approved, APPROVED_OF_2]}, is_mostly_right]
    }
    return {"$cond": [is_long_known, 2, {"$cond": [is_trusted, 1, 0]}]}


def by_trust(values: Sequence[Any], now: datetime) -> Document:
    """Return the expression of the value that is for a person's trust."""
    return {"$arrayElemAt": [list(values), trust_expression(now)]}


def status_of(person: Mapping[str, Any], now: datetime) -> Status:
    """Return a person's status now: a suspension ends by itself."""
    status: Status = person["status"]
    if status == "suspended" and person["until"] is not None and person["until"] <= now:
        return "ok"
    return status


def flag_weight(person: Person, now: datetime, *, is_staff: bool) -> int:
    """Return how much a person's flag weighs, in hundredths.

    It weighs by how far the site trusts the person, and by how often moderators agreed with them.
    Flags of newcomers weigh nothing: a new account costs nothing.
    """
    if is_staff:
        return 1_000
    if status_of(person, now) != "ok":
        return 0
    right, wrong = person["counts"]["flags_right"], person["counts"]["flags_wrong"]
    most = (0, 100, 200)[trust_of(person, now)]
    return round(most * right / (right + wrong)) if wrong else most


def flags_are_heard(person: Person, now: datetime) -> bool:
    """Return whether moderators see a flag of a person in their queue.

    They do not if they hold the person off, or if wrong flags outnumber right ones by three.
    """
    counts = person["counts"]
    is_mostly_wrong = counts["flags_wrong"] - counts["flags_right"] >= MOST_WRONG_FLAGS
    return status_of(person, now) == "ok" and not is_mostly_wrong


def may_write_expression(now: datetime) -> Document:
    """Return, as an expression over the fields of a person, whether they may write now."""
    is_over: Document = {"$and": [{"$gt": ["$until", None]}, {"$lte": ["$until", now]}]}
    is_held: Document = {"$and": [{"$eq": ["$status", "suspended"]}, {"$not": [is_over]}]}
    return {"$not": [{"$or": [{"$eq": ["$status", "banned"]}, is_held]}]}
