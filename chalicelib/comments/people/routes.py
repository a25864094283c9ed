"""The routes of a person at a site."""

from typing import Annotated

from chalicelib.comments.errors import TooManyBlocked
from chalicelib.comments.log.acts import Actor, Change
from chalicelib.comments.people import blocking, changing
from chalicelib.comments.people.answers import (
    BlockedAnswer,
    OwnSitePersonAnswer,
    SitePersonAnswer,
    own_answer,
    person_answer,
)
from chalicelib.comments.people.avatars import A_DAY, DRAWING_HEADERS, Drawing, drawn
from chalicelib.comments.people.counting import counted
from chalicelib.comments.people.models import PersonChange
from chalicelib.errors import FieldError, Forbidden, InvalidRequest
from chalicelib.http import Found, NoContent, Ok, Request, Roles, Route
from chalicelib.identity import Principal
from chalicelib.people.ids import UserId
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import moderates

Moderator = Annotated[Principal, Roles("moderator")]


def declare(route: Route) -> None:
    """Declare the routes."""
    _declare_standing(route)
    _declare_blocks(route)
    _declare_avatar(route)


def _declare_standing(route: Route) -> None:
    @route("GET", "/sites/{site}/people/{user}", raises=(Forbidden,))
    def get_person(
        request: Request, site: SiteId, user: UserId, caller: Principal
    ) -> Ok[SitePersonAnswer | OwnSitePersonAnswer]:
        """Read what a site knows of a person: as a moderator all of it, of yourself a part."""
        now = request.runtime.now()
        if moderates(caller, site):
            found = changing.find(request.runtime.database, site, user)
            return Ok(person_answer(counted(request.runtime.database, found), now))
        if caller.id != user:
            raise Forbidden(f"You do not moderate the site {site}")
        return Ok(own_answer(changing.find(request.runtime.database, site, user), now))

    @route("PATCH", "/sites/{site}/people/{user}")
    def change_person(
        request: Request, site: SiteId, user: UserId, moderator: Moderator, body: PersonChange
    ) -> Ok[SitePersonAnswer]:
        """Suspend, ban or shadow a person at a site, or take it back; give them badges; note it.

        It holds from their next call on.
        """
        if not moderates(moderator, site):
            raise Forbidden(f"You do not moderate the site {site}")
        now = request.runtime.now()
        if body.until is not None and body.until <= now:
            told = "A suspension ends in the future"
            raise InvalidRequest(errors=[FieldError("until", "past", told)])
        actor = Actor(moderator, body.reason or "")
        after = changing.change(request.runtime, site, user, Change(None, body.fields), actor)
        if body.status is not None:
            request.details["status"] = body.status
        return Ok(person_answer(after, now))


def _declare_blocks(route: Route) -> None:
    @route("GET", "/sites/{site}/blocked")
    def list_blocked(request: Request, site: SiteId, caller: Principal) -> Ok[BlockedAnswer]:
        """List whom you have blocked at a site."""
        found = blocking.listed(request.runtime, site, caller.id)
        return Ok({"people": [{"id": each} for each in found]})

    @route("PUT", "/sites/{site}/blocked/{user}", raises=(TooManyBlocked,))
    def block_person(request: Request, site: SiteId, user: UserId, caller: Principal) -> NoContent:
        """Block somebody at a site: pages of comments that you read leave theirs out.

        They are not told. Other containers follow within five seconds.
        """
        if user == caller.id:
            told = "You cannot block yourself"
            raise InvalidRequest(errors=[FieldError("user", "yourself", told)])
        blocking.block(request.runtime, site, caller, user)
        return NoContent()

    @route("DELETE", "/sites/{site}/blocked/{user}")
    def unblock_person(
        request: Request, site: SiteId, user: UserId, caller: Principal
    ) -> NoContent:
        """Take back that you have blocked somebody; without a block, nothing changes."""
        blocking.unblock(request.runtime, site, caller, user)
        return NoContent()


def _declare_avatar(route: Route) -> None:
    @route("GET", "/sites/{site}/people/{user}/avatar")
    def get_avatar(request: Request, site: SiteId, user: UserId) -> Drawing | Found:
        """Find the picture of a person: where their token says, or a drawing of their initials."""
        person = changing.find(request.runtime.database, site, user)
        if picture := person.get("picture"):
            return Found("", {"Location": picture, "Cache-Control": A_DAY})
        return Drawing(drawn(user, person["name"]), DRAWING_HEADERS)
