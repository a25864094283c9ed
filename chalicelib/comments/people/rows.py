"""People at sites: their documents, and conclusions on their trust, standing and rights."""

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
from chalicelib.sites.permissions import moderates

# `shadowed`: only the person and moderators see the person's texts; the person sees `ok`.
Status = Literal["ok", "shadowed", "suspended", "banned"]
# From the mildest to the harshest.
_HARSHNESS: tuple[Status, ...] = ("ok", "suspended", "shadowed", "banned")
MAX_BLOCKED = 1_000


class PersonCounts(TypedDict):
    """The numbers of a person's comments by state, and of their right and wrong flags.

    concealed: the rejected or spam comments that their author sees as visible; missing: none.
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

    until: the end of a suspension; None: it has none.
    made: when Plaza stored the document; missing: release 0.3.0 did.
    first_at: the time of the first post; None: the person has not posted.
    tat: the theoretical arrival time of the next post (`chalicelib.limits`).
    touched: the beginning of the last change that the counts have to follow.
    recount: the time since which the counts may be behind.
    recounts: a number that distinguishes concurrent recounts.
    note: a text for moderators alone.
    act: the id of the last act of a moderator here (`chalicelib.comments.log`).
    taken_key: the key that closes the name to guests; "": the name is free, as for a guest without
        a confirmed address.
    email_key: the keyed hash (`chalicelib.mail.addressing`) of an address, by the signing key when
        Plaza stored the hash. The guest confirmed the address, a trusted issuer or a provider
        verified it, or the file of an import has it.
    email_keys: the hashes of an address that a provider verified, by all keys when Plaza stored
        the hashes. A claim needs these, since Plaza does not store the address.
    joined: the account that has claimed this guest or imported person, since `joined_at`.
    joined_keys: the hashes of the account's verified address at `joined_at`.
    confirmed_at: the time of the first confirmation.
    release: the time of the last confirmation, or of a later try of the schedule to release the
        comments that waited for it; missing: the schedule has no comment to release.
    """

    _id: str
    site: str
    user_id: str
    name: str
    status: Status
    until: datetime | None
    counts: PersonCounts
    made: NotRequired[datetime]
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
        # Finds a person's documents for a rename or an erasure.
        IndexModel([("user_id", ASCENDING)]),
        # Finds the readers who have blocked a person, for the person's erasure.
        IndexModel("blocked", sparse=True),
        # Finds the people with the name that a guest wants, and rows of 0.3.0 without a key.
        IndexModel([("taken_key", ASCENDING), ("site", ASCENDING)]),
        IndexModel("recount", partialFilterExpression={"recount": {"$type": "date"}}),
        # Finds a site's people by their address.
        IndexModel(
            [("email_key", ASCENDING), ("site", ASCENDING)],
            partialFilterExpression={"email_key": {"$exists": True}},
        ),
        IndexModel("release", partialFilterExpression={"release": {"$type": "date"}}),
        # Finds the people that an account has claimed.
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
    """Return the key that closes a person's name to guests.

    "": the name is free, as names of guests and of imported people are.
    """
    is_free = GUEST_ID.fullmatch(user_id) or IMPORTED_ID.fullmatch(user_id)
    return "" if is_free else lookalike_key(name)


def taken_key_expression(user_id: str, name: str) -> Document:
    """Return the `taken_key` for a new name, as an expression over the fields of the person.

    The key is "" only for a guest without a confirmed address.
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


def defaults(site: str, user_id: str, name: str, now: datetime) -> dict[str, Any]:
    """Return `$set` expressions that replace missing or null fields by those of a new person."""
    made = new_person(site, user_id, name)
    return {
        field: {"$ifNull": [f"${field}", {"$literal": value}]}
        for field, value in made.items()
        if field != "_id"
    } | {"made": {"$cond": [{"$eq": [{"$type": "$user_id"}, "missing"]}, now, "$made"]}}


# Conclusions from a person's document: their trust, and their rights now.

# 0: new; 1: known; 2: long known.
Trust = Literal[0, 1, 2]
TRIAL = timedelta(hours=24)
APPROVED_OF_1, APPROVED_OF_2 = 3, 20
REJECTED_PERCENT_OF_2 = 5
MOST_WRONG_FLAGS = 3


def trust_of(person: Person, now: datetime) -> Trust:
    """Return a site's trust in a person, by their approved comments and their time there.

    A guest stays at 0, since a new name costs nothing.
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
    """Return the number of a person's approved comments, with a shadowed person's concealed ones.

    Without these, a slower pace and stricter verdicts would reveal the shadow to the person.
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
    """Return an expression for the value of a person's trust; `values` has one for each level."""
    return {"$arrayElemAt": [list(values), trust_expression(now)]}


def status_of(person: Mapping[str, Any], now: datetime) -> Status:
    """Return a person's status now: a suspension ends by itself."""
    status: Status = person["status"]
    if status == "suspended" and person["until"] is not None and person["until"] <= now:
        return "ok"
    return status


def harshness_of(person: Mapping[str, Any], now: datetime) -> tuple[float, ...]:
    """Return a sort key of a person's standing now: a greater key is harsher.

    The order is ok, a suspension with an end (a later end is harsher), shadowed, a suspension
    without an end, banned. A suspension with an end is milder than a shadow: a person
    with both keeps the harsher, and the shadow must not end with the suspension.
    """
    status = status_of(person, now)
    if status != "suspended":
        return (_HARSHNESS.index(status), 0)
    until = person["until"]
    return (1, until.timestamp()) if until else (2, 1)


def flag_weight(person: Person, now: datetime, *, is_staff: bool) -> int:
    """Return the weight of a person's flag in hundredths: 0 to 200, and 1,000 for staff.

    The weight rises with trust, and with the share of the person's flags that moderators found
    right. It is 0 for a status other than `ok`, and for newcomers: a new account costs nothing.
    """
    if is_staff:
        return 1_000
    if status_of(person, now) != "ok":
        return 0
    right, wrong = person["counts"]["flags_right"], person["counts"]["flags_wrong"]
    most = (0, 100, 200)[trust_of(person, now)]
    return round(most * right / (right + wrong)) if wrong else most


def flags_are_heard(person: Person, now: datetime) -> bool:
    """Return whether moderators see a person's flags in their queue.

    False for a status other than `ok`, or if wrong flags outnumber right flags by three or more.
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
    """Return whether a site shadows a caller; False for its staff and for a person new to it.

    Raises Suspended, Banned or Unauthenticated if the person may not write there.
    """
    if person is None or moderates(caller, site):
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
    """Raise Unauthenticated for a guest that an account has claimed: the token has ended."""
    if "joined" in person:
        raise Unauthenticated("An account has the past of this guest; sign in by it")
