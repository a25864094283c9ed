"""Routes and forms of people at a site: standing, badges, blocks and avatars."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from typing_extensions import TypedDict

from chalicelib.comments.errors import PersonChanged
from chalicelib.comments.forms import ActReason
from chalicelib.comments.log.acts import ActChange, Actor
from chalicelib.comments.people import blocking, changing
from chalicelib.comments.people.avatars import (
    DRAWING_HEADERS,
    Drawing,
    caching_of,
    draw,
    may_lead_to,
)
from chalicelib.comments.people.changing import PersonDecision, ShownStatus
from chalicelib.comments.people.counting import count
from chalicelib.comments.people.rows import (
    Person,
    PersonCounts,
    Status,
    Trust,
    status_of,
    trust_of,
)
from chalicelib.comments.shapes import (
    MAX_BADGE_CHARACTERS,
    MAX_BADGES,
    MAX_NOTE_CHARACTERS,
    ShownBadge,
)
from chalicelib.comments.sites import settings
from chalicelib.errors import FieldError, Forbidden, InvalidRequest, TooManyBlocked
from chalicelib.http import Accepted, Found, Input, NoContent, Ok, Request, Route
from chalicelib.http.callers import Moderator, Publisher
from chalicelib.identity import Principal
from chalicelib.instants import Instant
from chalicelib.people import blocks, jobs
from chalicelib.people.blocks import Apart, BlockedAnswer
from chalicelib.people.export import ErasureAnswer
from chalicelib.people.features import People
from chalicelib.people.ids import ClaimedId, UserId
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_moderator, check_publisher, moderates
from chalicelib.texts import Line, Paragraphs, ShownName, at_most

# A person's own view of their status; a shadowed person sees `ok`.
OwnStatus = Literal["ok", "suspended", "banned"]


class OwnSitePersonAnswer(TypedDict):
    """A person's own view of their standing at a site; it conceals a shadow."""

    id: UserId
    site: SiteId
    name: ShownName
    status: OwnStatus
    until: Annotated[datetime | None, Field(description="The end of a suspension.")]
    badges: Annotated[list[ShownBadge], Field(max_length=MAX_BADGES)]
    first_at: Annotated[datetime | None, Field(description="When they first posted.")]


class CountsOfPersonAnswer(TypedDict):
    """The numbers of a person's comments by state, and of their right and wrong flags."""

    visible: int
    pending: int
    rejected: int
    spam: int
    flags_right: int
    flags_wrong: int


class SitePersonAnswer(TypedDict):
    """A person at a site, as moderators see them: with trust, counts and note."""

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


def person_answer(person: Person, now: datetime) -> SitePersonAnswer:
    """Return a person as moderators see them."""
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
    """Return a person's own view; a shadowed person sees the status `ok`."""
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


class StatusShown(Input):
    """A person's status, as the moderator read it."""

    status: Status
    until: Instant | None = None


class PersonChange(Input):
    """A moderator's change of a person at a site; omitted fields stay."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"status": "suspended", "until": "2026-12-01T00:00:00Z"}]}
    )

    status: Status | None = Field(
        None,
        description="`suspended` and `banned` people write nothing; what `shadowed` ones write "
        "is seen by themselves and by moderators alone, and they are not told.",
    )
    until: Instant | None = Field(None, description="The end of a suspension; null for none.")
    badges: (
        Annotated[
            tuple[Annotated[Line, at_most(MAX_BADGE_CHARACTERS)], ...],
            Field(max_length=MAX_BADGES, description="Shown beside the name from then on."),
        ]
        | None
    ) = None
    note: Annotated[Paragraphs, at_most(MAX_NOTE_CHARACTERS)] | None = Field(
        None, description="For moderators alone; null for none."
    )

    reason: ActReason | None = None
    as_shown: StatusShown | None = Field(
        None,
        description="The status that you read. If it is another by now, nothing is changed.",
    )

    @model_validator(mode="after")
    def _check_until(self) -> Self:
        if self.until is not None and self.status != "suspended":
            raise ValueError("only a suspension has an end")
        return self

    @property
    def fields(self) -> dict[str, Any]:
        """The given fields, as stored; a new status replaces `until`, too."""
        said: dict[str, Any] = {}
        if self.status is not None:
            said |= {"status": self.status, "until": self.until}
        if self.badges is not None:
            said["badges"] = list(dict.fromkeys(self.badges))
        if "note" in self.model_fields_set:
            said["note"] = self.note or ""
        return said


def declare(route: Route, apart: Apart, people: People) -> None:
    """Declare the routes; `apart` stores the blocks of people with an account."""
    _declare_standing(route)
    _declare_erasure(route, people)
    _declare_blocks(route, apart)
    _declare_avatar(route)


def _declare_standing(route: Route) -> None:
    @route("GET", "/sites/{site}/people/{user}", raises=(Forbidden,))
    def get_person(
        request: Request, site: SiteId, user: UserId, caller: Principal
    ) -> Ok[SitePersonAnswer | OwnSitePersonAnswer]:
        """Read a person at a site: moderators see all fields, you see some fields of yourself."""
        now = request.runtime.now()
        if moderates(caller, site):
            found = changing.find(request.runtime.database, site, user)
            return Ok(person_answer(count(request.runtime.database, found), now))
        if caller.id != user:
            raise Forbidden(f"You do not moderate the site {site}")
        return Ok(own_answer(changing.find(request.runtime.database, site, user), now))

    @route("PATCH", "/sites/{site}/people/{user}", raises=(PersonChanged,))
    def change_person(
        request: Request, site: SiteId, user: UserId, moderator: Moderator, body: PersonChange
    ) -> Ok[SitePersonAnswer]:
        """Change a person's status, badges or note at a site; the status `ok` lifts any other.

        The status holds from the person's next call on. In place of a claimed guest, their account
        changes, and the answer shows the account.
        """
        check_moderator(moderator, site)
        now = request.runtime.now()
        if body.until is not None and body.until <= now:
            message = "A suspension ends in the future"
            raise InvalidRequest(errors=[FieldError("until", "past", message)])
        actor = Actor(moderator, body.reason or "")
        if body.as_shown is None:
            wanted = ActChange(None, body.fields)
            after = changing.change(request.runtime, site, user, wanted, actor)
        else:
            shown = ShownStatus(body.as_shown.status, body.as_shown.until)
            decision = PersonDecision(body.fields, shown)
            after = changing.decide(request.runtime, site, user, decision, actor)
        if body.status is not None:
            request.details["status"] = body.status
        return Ok(person_answer(count(request.runtime.database, after), now))


def _declare_erasure(route: Route, people: People) -> None:
    @route("DELETE", "/sites/{site}/people/{user}", raises=(Forbidden,))
    def erase_person(
        request: Request, site: SiteId, user: ClaimedId, publisher: Publisher
    ) -> Accepted[ErasureAnswer]:
        """Erase a guest, or an author of imported comments, who cannot ask for it by a token.

        As `DELETE /users/me`: a worker erases what they wrote and their name; a repeated call
        counts what is left. Publishers erase those who were at their own sites alone. People with
        an account erase themselves.
        """
        check_publisher(publisher, site)
        for each in sorted(jobs.sites_of(request.runtime.database, people, user)):
            check_publisher(publisher, each)
        left = jobs.begin_erasure(request.runtime, people, user)
        return Accepted({"remaining": left, "kept": list(people.kept)})


def _declare_blocks(route: Route, apart: Apart) -> None:
    @route("GET", "/sites/{site}/blocked")
    def list_blocked(request: Request, site: SiteId, caller: Principal) -> Ok[BlockedAnswer]:
        """List the people you block: an account's blocks hold everywhere, a guest's at this site.

        The list includes blocks that Plaza stores for this site alone, as release 0.3.0 did.
        """
        return Ok(blocks.answer(blocking.read_list(request.runtime, site, caller.id)))

    @route("PUT", "/sites/{site}/blocked/{user}", raises=(TooManyBlocked,))
    def block_person(request: Request, site: SiteId, user: UserId, caller: Principal) -> NoContent:
        """Block a person: your pages leave out their comments, at every site.

        In the social feed neither of you follows or sees the other any more. A guest blocks people
        at this site alone. The person gets no notice. Other containers follow within five seconds.
        """
        if user == caller.id:
            message = "You cannot block yourself"
            raise InvalidRequest(errors=[FieldError("user", "yourself", message)])
        blocking.block(request.runtime, apart, site, caller, user)
        return NoContent()

    @route("DELETE", "/sites/{site}/blocked/{user}")
    def unblock_person(
        request: Request, site: SiteId, user: UserId, caller: Principal
    ) -> NoContent:
        """End your block of a person, at every site and in the social feed.

        Without a block, nothing changes.
        """
        blocking.unblock(request.runtime, apart, site, caller, user)
        return NoContent()


def _declare_avatar(route: Route) -> None:
    @route("GET", "/sites/{site}/people/{user}/avatar")
    def get_avatar(request: Request, site: SiteId, user: UserId) -> Drawing | Found:
        """Redirect to the picture that a person's token names, or draw the person's initials.

        The redirect leads to the site's `avatar_hosts` alone. If they are null, it leads to any
        host, but only for an image in a page (`Sec-Fetch-Dest: image`).
        """
        person = changing.find(request.runtime.database, site, user)
        hosts = settings.of(request.runtime, site).get("avatar_hosts")
        fetched_as = request.raw.headers.get("sec-fetch-dest")
        cached = caching_of(hosts)
        if (picture := person.get("picture")) and may_lead_to(picture, hosts, fetched_as):
            return Found("", {"Location": picture, **cached})
        return Drawing(draw(user, person["name"]), {**DRAWING_HEADERS, **cached})
