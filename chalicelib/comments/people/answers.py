"""The forms in which a person is answered: to themselves, and to the moderators of the site."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.comments.people.rows import (
    MAX_BLOCKED,
    Person,
    PersonCounts,
    Status,
)
from chalicelib.comments.people.standing import Trust, status_of, trust_of
from chalicelib.comments.shapes import MAX_BADGES, MAX_NOTE_CHARACTERS, ShownBadge
from chalicelib.people.ids import UserId
from chalicelib.sites.ids import SiteId
from chalicelib.texts import ShownName

# A shadowed person is not told.
ToldStatus = Literal["ok", "suspended", "banned"]


class OwnSitePersonAnswer(TypedDict):
    """What a site tells a person of themselves."""

    id: UserId
    site: SiteId
    name: ShownName
    status: ToldStatus
    until: Annotated[datetime | None, Field(description="The end of a suspension.")]
    badges: Annotated[list[ShownBadge], Field(max_length=MAX_BADGES)]
    first_at: Annotated[datetime | None, Field(description="When they first posted.")]


class CountsOfPersonAnswer(TypedDict):
    """How many of a person's comments are in which state, and how often their flags were right."""

    visible: int
    pending: int
    rejected: int
    spam: int
    flags_right: int
    flags_wrong: int


class SitePersonAnswer(TypedDict):
    """What a site knows of a person."""

    id: UserId
    site: SiteId
    name: ShownName
    status: Status
    until: Annotated[datetime | None, Field(description="The end of a suspension.")]
    badges: Annotated[list[ShownBadge], Field(max_length=MAX_BADGES)]
    first_at: Annotated[datetime | None, Field(description="When they first posted.")]
    trust: Annotated[
        Trust,
        Field(
            description="0: new; 1: three comments are visible, and a day has passed since the "
            "first; 2: twenty are, and at most 5% were rejected."
        ),
    ]
    counts: CountsOfPersonAnswer
    note: Annotated[str, Field(max_length=MAX_NOTE_CHARACTERS)]


class BlockedPersonAnswer(TypedDict):
    """Somebody who is blocked."""

    id: UserId


class BlockedAnswer(TypedDict):
    """Whom somebody has blocked at a site."""

    people: Annotated[list[BlockedPersonAnswer], Field(max_length=MAX_BLOCKED)]


def person_answer(person: Person, now: datetime) -> SitePersonAnswer:
    """Return a person as moderators are shown them."""
    counts: PersonCounts = person["counts"]
    status = status_of(person, now)
    return {
        "id": person["user_id"],
        "site": person["site"],
        "name": person["name"],
        "status": status,
        "until": person["until"] if status == "suspended" else None,
        "badges": person["badges"],
        "first_at": person["first_at"],
        "trust": trust_of(person, now),
        "counts": {
            "visible": counts["visible"],
            "pending": counts["pending"],
            "rejected": counts["rejected"],
            "spam": counts["spam"],
            "flags_right": counts["flags_right"],
            "flags_wrong": counts["flags_wrong"],
        },
        "note": person["note"],
    }


def own_answer(person: Person, now: datetime) -> OwnSitePersonAnswer:
    """Return a person as they are shown themselves."""
    status = status_of(person, now)
    return {
        "id": person["user_id"],
        "site": person["site"],
        "name": person["name"],
        "status": "ok" if status == "shadowed" else status,
        "until": person["until"] if status == "suspended" else None,
        "badges": person["badges"],
        "first_at": person["first_at"],
    }
