"""A person's document at a site: made at their first post, or by a moderator's act."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel

from chalicelib.comments.errors import Banned, Suspended
from chalicelib.comments.shapes import MAX_BADGES
from chalicelib.database import Collection, Document
from chalicelib.database.validators import AtMost
from chalicelib.errors import Unauthenticated
from chalicelib.identity import Principal
from chalicelib.mail.rows import MAX_KEYS
from chalicelib.people.ids import GUEST_ID, GUEST_PATTERN, IMPORTED_ID
from chalicelib.people.names import lookalike_key
from chalicelib.sites.permissions import manages

# `shadowed`: only they and moderators see their texts, and they do not know it.
Status = Literal["ok", "shadowed", "suspended", "banned"]
# From the mildest to the harshest.
_HARSHNESS: tuple[Status, ...] = ("ok", "suspended", "shadowed", "banned")
MAX_BLOCKED = 1_000


class PersonCounts(TypedDict):
    """The numbers of a person's comments by state, and of their right and wrong flags.

    concealed: the rejected comments that they see as visible; missing: none.
    """

    visible: int
    pending: int
    rejected: int
    concealed: NotRequired[int]
    spam: int
    flags_right: int
    flags_wrong: int


class Person(TypedDict):
    """A person at a site; `_id` is `{site}/{user}`.

    `until` is the end of a suspension. `first_at` is their first post, and `tat` the theoretical
    arrival time of their next post (`chalicelib.limits`). `note` is for moderators, and `act` is
    the last act of a moderator here (`chalicelib.comments.log`). The counts may be behind since
    `recount`. `taken_key` is the key of their name, which no guest may take; "" for a guest without
    a confirmed address. `email_key` is the keyed hash (`chalicelib.mail.addressing`) of a
    guest's confirmed address, of an address that a trusted issuer or a provider verified, or of an
    imported person's in the file, by the key that signed then. `email_keys` has the hashes by all
    keys of that time, of an address that a provider verified: a claim needs them, since the address
    itself is nowhere. `joined` is the account that has the past of a guest or of an imported
    person, since `joined_at`; `joined_keys` are the hashes of the account's verified address then.
    `confirmed_at` is the time of the first confirmation, and `release` the time since which
    comments that waited for it may be visible; the schedule removes it. `touched` is when the last
    change began that the counts have to follow; `recounts` distinguishes concurrent recounts.
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
    taken_key: NotRequired[str]
    email_key: NotRequired[str]
    email_keys: NotRequired[Annotated[list[str], AtMost(MAX_KEYS)]]
    confirmed_at: NotRequired[datetime]
    release: NotRequired[datetime]
    blocked: NotRequired[Annotated[list[str], AtMost(MAX_BLOCKED)]]
    act: NotRequired[str]
    joined: NotRequired[str]
    joined_at: NotRequired[datetime]
    joined_keys: NotRequired[Annotated[list[str], AtMost(MAX_KEYS)]]


PEOPLE = Collection(
    "comments.person",
    Person,
    indexes=(
        # Finds the documents of a person to rename or erase.
        IndexModel([("user_id", ASCENDING)]),
        # Finds the readers who have blocked a person to erase.
        IndexModel("blocked", sparse=True),
        # Finds people with a guest's name, and rows of 0.3.0, which have no key.
        IndexModel([("taken_key", ASCENDING), ("site", ASCENDING)]),
        IndexModel("recount", partialFilterExpression={"recount": {"$type": "date"}}),
        # Finds the guests of a confirmed address.
        IndexModel(
            [("email_key", ASCENDING), ("site", ASCENDING)],
            partialFilterExpression={"email_key": {"$exists": True}},
        ),
        IndexModel("release", partialFilterExpression={"release": {"$type": "date"}}),
        # Finds the people whose past an account has.
        IndexModel("joined", partialFilterExpression={"joined": {"$exists": True}}),
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


def taken_key(user_id: str, name: str) -> str:
    """Return the key of a person's name, which no guest may take; "" for a guest's own name.

    Names of imported people are free, too.
    """
    is_free = GUEST_ID.fullmatch(user_id) or IMPORTED_ID.fullmatch(user_id)
    return "" if is_free else lookalike_key(name)


def taken_key_expression(user_id: str, name: str) -> Document:
    """Return `taken_key` as an aggregation expression over the fields of the person.

    A guest with a confirmed address takes the name from others.
    """
    is_taken: Document | bool = True
    if GUEST_ID.fullmatch(user_id):
        is_taken = {"$gt": ["$email_key", None]}
    return {"$cond": [is_taken, {"$literal": lookalike_key(name)}, ""]}


def new_person(site: str, user_id: str, name: str) -> Person:
    """Return the document of a person new to a site."""
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
    """Return the fields of a new document for an update by stages: each is set if missing."""
    made = new_person(site, user_id, name)
    return {
        field: {"$ifNull": [f"${field}", {"$literal": value}]}
        for field, value in made.items()
        if field != "_id"
    }


# Conclusions from a person's document: their trust, and their rights now.

# 0 is new, 2 is long known.
Trust = Literal[0, 1, 2]
TRIAL = timedelta(hours=24)
APPROVED_OF_1, APPROVED_OF_2 = 3, 20
REJECTED_PERCENT_OF_2 = 5
MOST_WRONG_FLAGS = 3


def trust_of(person: Person, now: datetime) -> Trust:
    """Return a site's trust in a person, by their approved comments and their time there.

    A guest stays new: another name costs nothing.
    """
    if GUEST_ID.fullmatch(person["user_id"]):
        return 0
    counts, first_at, approved = person["counts"], person["first_at"], approved_of(person)
    rejected = counts["rejected"] + counts["spam"] - _concealed_of(person)
    if first_at is None or first_at > now - TRIAL or approved < APPROVED_OF_1:
        return 0
    is_mostly_right = 100 * rejected <= REJECTED_PERCENT_OF_2 * (approved + rejected)
    return 2 if approved >= APPROVED_OF_2 and is_mostly_right else 1


def approved_of(person: Person) -> int:
    """Return the number of a person's approved comments; a shadowed person's as they see it.

    By another number, the pace of their posts and the verdicts on them would tell.
    """
    return person["counts"]["visible"] + _concealed_of(person)


def _concealed_of(person: Person) -> int:
    return person["counts"].get("concealed", 0) if person["status"] == "shadowed" else 0


def trust_expression(now: datetime) -> Document:
    """Return `trust_of` as an aggregation expression over the fields of a person."""
    is_shadowed: Document = {"$eq": ["$status", "shadowed"]}
    concealed = {"$cond": [is_shadowed, {"$ifNull": ["$counts.concealed", 0]}, 0]}
    approved = {"$add": [{"$ifNull": ["$counts.visible", 0]}, concealed]}
    decided = {"$add": [{"$ifNull": [f"$counts.{name}", 0]} for name in ("rejected", "spam")]}
    rejected: Document = {"$subtract": [decided, concealed]}
    share: Document = {"$multiply": [REJECTED_PERCENT_OF_2, {"$add": [approved, rejected]}]}
    # A missing date is less than any date: test for it.
    is_known: Document = {
        "$and": [{"$gt": ["$first_at", None]}, {"$lte": ["$first_at", now - TRIAL]}]
    }
    is_trusted: Document = {"$and": [is_known, {"$gte": [approved, APPROVED_OF_1]}]}
    is_mostly_right: Document = {"$lte": [{"$multiply": [100, rejected]}, share]}
    is_long_known: Document = {
        "$and": [is_trusted, {"$gte": [approved, APPROVED_OF_2]}, is_mostly_right]
    }
    by_time = {"$cond": [is_long_known, 2, {"$cond": [is_trusted, 1, 0]}]}
    is_of_guest: Document = {"$regexMatch": {"input": "$user_id", "regex": GUEST_PATTERN}}
    return {"$cond": [is_of_guest, 0, by_time]}


def by_trust(values: Sequence[Any], now: datetime) -> Document:
    """Return the expression that selects the value for a person's trust."""
    return {"$arrayElemAt": [list(values), trust_expression(now)]}


def status_of(person: Mapping[str, Any], now: datetime) -> Status:
    """Return a person's status now: a suspension ends by itself."""
    status: Status = person["status"]
    if status == "suspended" and person["until"] is not None and person["until"] <= now:
        return "ok"
    return status


def harshness_of(person: Mapping[str, Any], now: datetime) -> tuple[float, ...]:
    """Return the order of standings: of two suspensions the longer is the harsher.

    A suspension that ends is milder than a shadow, which would be over with it.
    """
    status = status_of(person, now)
    if status != "suspended":
        return (_HARSHNESS.index(status), 0)
    until = person["until"]
    return (1, until.timestamp()) if until else (2, 1)


def flag_weight(person: Person, now: datetime, *, is_staff: bool) -> int:
    """Return the weight of a person's flag, in hundredths.

    It depends on the site's trust in the person, and on the share of their flags that moderators
    found right. Flags of newcomers weigh nothing: a new account costs nothing.
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

    They do not if the person's status is not `ok`, or if wrong flags outnumber right flags by
    three.
    """
    counts = person["counts"]
    is_mostly_wrong = counts["flags_wrong"] - counts["flags_right"] >= MOST_WRONG_FLAGS
    return status_of(person, now) == "ok" and not is_mostly_wrong


def may_write_expression(now: datetime) -> Document:
    """Return whether a person may write now, as an expression over their fields."""
    is_over: Document = {"$and": [{"$gt": ["$until", None]}, {"$lte": ["$until", now]}]}
    is_held: Document = {"$and": [{"$eq": ["$status", "suspended"]}, {"$not": [is_over]}]}
    is_joined: Document = {"$gt": ["$joined", None]}
    return {"$not": [{"$or": [{"$eq": ["$status", "banned"]}, is_held, is_joined]}]}


# The fields of a person that `check_may_write` reads.
STANDING = ("status", "until", "joined")


def check_may_write(person: Person | None, site: str, caller: Principal, now: datetime) -> bool:
    """Return whether a site shadows a caller by their document there; never its staff.

    Raises Suspended, Banned or Unauthenticated for a person who may not write there.
    """
    if person is None or manages(caller, site):
        return False
    check_status(person, now)
    return person["status"] == "shadowed"


def check_status(person: Person, now: datetime) -> None:
    """Raise Suspended, Banned or Unauthenticated for a person who may not write now."""
    check_not_joined(person)
    match status_of(person, now):
        case "banned":
            raise Banned
        case "suspended":
            raise Suspended(person["until"])
        case _:
            return


def check_not_joined(person: Person) -> None:
    """Raise Unauthenticated for a guest whose past an account has: their token is over."""
    if "joined" in person:
        raise Unauthenticated("An account has the past of this guest; sign in by it")
