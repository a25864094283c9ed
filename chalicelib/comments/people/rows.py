"""The document of a person at a site: made when they first post, or when a moderator acts."""

from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from pymongo import ASCENDING, IndexModel

from chalicelib.comments.shapes import MAX_BADGES
from chalicelib.database import Collection
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
