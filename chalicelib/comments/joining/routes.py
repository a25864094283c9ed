"""Routes and forms for taking the past of a guest, or of an imported person, over to an account."""

from typing import Annotated

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict

from chalicelib import guest_tokens
from chalicelib.comments.errors import PersonTaken
from chalicelib.comments.joining import carrying
from chalicelib.comments.people import claims
from chalicelib.comments.people.claims import MOST_AT_ONCE, Claimed
from chalicelib.errors import FieldError, Forbidden, InvalidRequest
from chalicelib.guest_tokens import MAX_TOKEN_CHARACTERS
from chalicelib.http import Accepted, Input, Ok, Request, Route
from chalicelib.identity import Principal
from chalicelib.limits import SIGN_INS
from chalicelib.people.ids import UserId
from chalicelib.runtime import Runtime
from chalicelib.sites.ids import SiteId
from chalicelib.texts import ShownName


class JoinedPast(Input):
    """The past that an account takes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{}]})

    token: Annotated[str, Field(max_length=MAX_TOKEN_CHARACTERS)] | None = Field(
        None,
        description="The token of a guest of the site, which proves the guest. Without it, the "
        "account takes those alone whom its verified address proves.",
    )


class PastPersonAnswer(TypedDict):
    """A person with a past that an account can take: a guest, or an imported author."""

    id: UserId
    name: ShownName


class PastAnswer(TypedDict):
    """People of a site with a past that the account may take, or takes now."""

    people: Annotated[list[PastPersonAnswer], Field(max_length=MOST_AT_ONCE + 1)]


def declare(route: Route) -> None:
    """Declare the routes."""

    @route("GET", "/sites/{site}/people/me/joined")
    def find_past(request: Request, site: SiteId, caller: Principal) -> Ok[PastAnswer]:
        """Find people with a past that your verified address lets you take, at most 20 at once.

        They are guests who have confirmed the address, and authors with it in an imported file.
        """
        return Ok(_answer(claims.find_claimable(request.runtime, site, caller)))

    @route(
        "POST",
        "/sites/{site}/people/me/joined",
        limit=SIGN_INS,
        raises=(Forbidden, PersonTaken),
    )
    def join_past(
        request: Request, site: SiteId, caller: Principal, body: JoinedPast
    ) -> Accepted[PastAnswer]:
        """Take the past of a guest whose token you have, and of people of your verified address.

        Their comments, votes, reactions, reports and blocks become yours, those of a long past in
        the background. If both of you voted on a comment, your vote stays. The harsher standing of
        both becomes yours. The guest's token can no longer write. The guest's notification letters
        continue only to your verified address. A repeated call takes only new people.
        """
        here = request.runtime
        proven = [] if body.token is None else [_guest_of(here, site, body.token)]
        if caller.is_guest:
            raise Forbidden("A guest has no account that takes a past")
        found = claims.find_claimable(here, site, caller)
        people = list({each.id: each for each in (*found, *proven)}.values())
        claims.claim(here, site, caller, people)
        request.details["joined"] = [each.id for each in people]
        for each in people:
            carrying.carry_soon(here, site, each.id)
        return Accepted(_answer(people))


def _guest_of(runtime: Runtime, site: str, token: str) -> Claimed:
    """Return the guest of a token for a site; raises InvalidRequest for any other token."""
    guest = None
    if token.startswith(guest_tokens.PREFIX):
        guest = guest_tokens.read(token, runtime.settings.signing_keys, runtime.now())
    if guest is None or guest.site != site:
        message = "This is no token of a guest of the site, or it has expired"
        raise InvalidRequest(errors=[FieldError("token", "foreign", message)])
    return Claimed(guest.id, guest.name)


def _answer(people: list[Claimed]) -> PastAnswer:
    return {"people": [{"id": each.id, "name": each.name} for each in people]}
