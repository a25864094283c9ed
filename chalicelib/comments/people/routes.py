"""The routes of a person at a site."""

from typing import Annotated

from chalicelib.comments.people import changing
from chalicelib.comments.people.answers import (
    OwnSitePersonAnswer,
    SitePersonAnswer,
    own_answer,
    person_answer,
)
from chalicelib.comments.people.counting import counted
from chalicelib.comments.people.models import PersonChange
from chalicelib.errors import FieldError, Forbidden, InvalidRequest
from chalicelib.http import Ok, Request, Roles, Route
from chalicelib.identity import Principal
from chalicelib.people.ids import UserId
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import moderates

Moderator = Annotated[Principal, Roles("moderator")]


def declare(route: Route) -> None:
    """Declare the routes."""

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
        changed = changing.change(request.runtime.database, site, user, body.fields)
        if body.status is not None:
            request.details["status"] = body.status
        return Ok(person_answer(changed.after, now))
